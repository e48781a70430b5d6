"""Tokens that confirm what a preview of a forget showed, and nothing else.

A token is an expiry, the ids that a query found (none for other targets) and an HMAC-SHA-256 over tenant, namespace,
target, expiry and the sorted ids of all that would go. It is kept nowhere.
"""

import base64
import binascii
import hashlib
import hmac
import struct
from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from rearview.domain.errors import InvalidConfirmationToken
from rearview.domain.forget import MAX_FOUND_BY_QUERY, ForgetQuery, ForgetSelection, ForgetTarget, target_parts
from rearview.domain.principal import Scope

LIFETIME = timedelta(minutes=10)
_HEAD = struct.Struct(">qB")  # expiry in seconds since the epoch, number of ids
_MAC_BYTES = 32
_HOW = "send the request again with preview set, and confirm the token that it returns"


class Confirmations:
    """Issues and checks tokens with a key of the platform's own."""

    def __init__(self, internal_key: bytes) -> None:
        self._key = hmac.new(internal_key, b"forget confirmation", hashlib.sha256).digest()

    def issue(self, scope: Scope, target: ForgetTarget, selection: ForgetSelection, now: datetime) -> str:
        """Return the token for what a target selects now."""
        found = target.found if isinstance(target, ForgetQuery) else ()
        head = _HEAD.pack(int((now + LIFETIME).timestamp()), len(found)) + b"".join(one.bytes for one in found)
        return base64.urlsafe_b64encode(head + self._mac(head, scope, target, selection)).decode().rstrip("=")

    def found(self, token: str) -> tuple[UUID, ...]:
        """Return the ids that the query of a token's preview found.

        Raises:
            InvalidConfirmationToken: it is no token.
        """
        return _split(token)[2]

    def check(self, token: str, scope: Scope, target: ForgetTarget, selection: ForgetSelection, now: datetime) -> None:
        """Check that a token confirms what a target selects now.

        Raises:
            InvalidConfirmationToken: it is no token, has expired, or is of another target or another set.
        """
        head, mac, _ = _split(token)
        if int(now.timestamp()) >= _HEAD.unpack_from(head)[0]:
            raise InvalidConfirmationToken(f"the confirmation token has expired; {_HOW}")
        if not hmac.compare_digest(mac, self._mac(head, scope, target, selection)):
            raise InvalidConfirmationToken(
                f"the confirmation token is of another target, or what it would forget has changed; {_HOW}"
            )

    def _mac(self, head: bytes, scope: Scope, target: ForgetTarget, selection: ForgetSelection) -> bytes:
        digest = hmac.new(self._key, digestmod=hashlib.sha256)
        parts = [head, scope.tenant_id.bytes, scope.namespace_id.bytes, *(p.encode() for p in target_parts(target))]
        groups = (selection.memory_ids, selection.event_ids, selection.rewritten)
        for part in (*parts, *(_joined(ids) for ids in groups)):
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.digest()


def missing_token() -> InvalidConfirmationToken:
    """Return the error for a query to forget that nobody has looked at."""
    return InvalidConfirmationToken(f"forgetting by query needs a confirmation token: {_HOW}")


def _joined(ids: Iterable[UUID]) -> bytes:
    return b"".join(sorted(one.bytes for one in ids))


def _split(token: str) -> tuple[bytes, bytes, tuple[UUID, ...]]:
    try:
        octets = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        count = _HEAD.unpack_from(octets)[1]
    except (binascii.Error, ValueError, struct.error):
        raise InvalidConfirmationToken(f"that is no confirmation token; {_HOW}") from None
    size = _HEAD.size + 16 * count
    if count > MAX_FOUND_BY_QUERY or len(octets) != size + _MAC_BYTES:
        raise InvalidConfirmationToken(f"that is no confirmation token; {_HOW}")
    ids = tuple(UUID(bytes=octets[at : at + 16]) for at in range(_HEAD.size, size, 16))
    return octets[:size], octets[size:], ids
