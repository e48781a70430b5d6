"""What a tenant has redacted, how placeholders are numbered, and what is kept sealed of what was replaced."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from rearview.domain.lifecycle_policy import NOTHING_SET, LifecycleValues
from rearview.domain.text import DEFAULT_CATEGORIES, MODEL_CATEGORIES, PiiCategory

VAULT_KEY_BYTES = 32
_KEY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RedactionPolicy:
    """What is redacted; `chosen` empty means the default set. With `vault` the originals are kept, sealed."""

    chosen: tuple[PiiCategory, ...] = ()
    vault: bool = False

    @property
    def categories(self) -> frozenset[PiiCategory]:
        """The categories that are redacted."""
        return frozenset(self.chosen) or DEFAULT_CATEGORIES

    @property
    def needs_models(self) -> bool:
        """Whether redaction takes language models, and so some milliseconds a turn."""
        return not MODEL_CATEGORIES.isdisjoint(self.chosen)

    def is_stricter_than(self, other: "RedactionPolicy") -> bool:
        """Whether something that the other one leaves in place is taken out by this one."""
        return bool(self.categories - other.categories) or (other.vault and not self.vault)


@dataclass(frozen=True, slots=True)
class TenantPolicy:
    """A tenant's policy; version 0 is that of a tenant that never set one. `rescan_id` is of the operation by which a
    change that takes out more rewrites what is stored."""

    redaction: RedactionPolicy = RedactionPolicy()
    version: int = 0
    lifecycle: LifecycleValues = NOTHING_SET
    rescan_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class PolicyChanges:
    """New values of a policy, None to leave one as it is; with a `version` refused unless it is the stored one. Of
    `lifecycle` the fields of the mask are set, None for the platform's default."""

    categories: tuple[PiiCategory, ...] | None = None
    vault: bool | None = None
    version: int | None = None
    lifecycle_mask: frozenset[str] = frozenset()
    lifecycle: LifecycleValues = NOTHING_SET


@dataclass(frozen=True, slots=True)
class PlaceholderKey:
    """By what a value is known again in its session: its category and a keyed hash of its normalised form."""

    category: PiiCategory
    digest: bytes


Numbers = Mapping[PlaceholderKey, int]
"""The numbers of values in one session, counted from 1 within each category."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """Something encrypted, and the id of the key that opens it."""

    key_id: str
    data: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Original:
    """A text before redaction, and what each of its placeholders stands for."""

    content: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class VaultKey:
    """A key of the vault: 256 bits under a name."""

    key_id: str
    secret: bytes


def parse_vault_keys(text: str) -> tuple[VaultKey, ...]:
    """Return the keys of `id:base64[,id:base64...]`; the first seals, all open, so that keys can be rotated.

    Raises:
        ValueError: the text is of another form; the message shows no key.
    """
    keys = []
    for at, part in enumerate(text.split(","), start=1):
        key_id, separator, encoded = part.strip().partition(":")
        if not separator or not _KEY_ID.fullmatch(key_id):
            raise ValueError(f"key {at} must have the form id:base64, the id of 1 to 32 of A-Z, a-z, 0-9, _, . and -")
        try:
            secret = base64.b64decode(encoded.translate(str.maketrans("-_", "+/")), validate=True)
        except binascii.Error as error:
            raise ValueError(f"key {at} is not base64") from error
        if len(secret) != VAULT_KEY_BYTES:
            raise ValueError(f"key {at} must have {VAULT_KEY_BYTES} bytes")
        keys.append(VaultKey(key_id, secret))
    if len({key.key_id for key in keys}) < len(keys):
        raise ValueError("two keys have the same id")
    return tuple(keys)
