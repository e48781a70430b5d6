"""API keys: `rv_<key id>_<secret>`. The prefix lets scanners find leaked keys, the id lets them be named."""

import re
import secrets
from dataclasses import dataclass, field
from hashlib import sha256

LONGEST_KEY = 160

# Wider than what is made here, so that an operator's key may be made by other means; the id has no underscore, so
# there is one way to read a key.
_KEY = re.compile(r"rv_([a-z0-9]{8,16})_([A-Za-z0-9_-]{43,128})", re.ASCII)
_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LENGTH = 16
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class PresentedKey:
    """A well-formed key, of which nothing is known yet."""

    key_id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made. `text` is what its holder sends; only `secret_hash` is stored."""

    key_id: str
    text: str = field(repr=False)
    secret_hash: bytes = field(repr=False)


def make_key() -> NewKey:
    """Return a key with an id of 80 and a secret of 256 random bits."""
    key_id = "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))
    secret = secrets.token_hex(_SECRET_BYTES)
    return NewKey(key_id, f"rv_{key_id}_{secret}", hash_secret(secret))


def parse_key(text: str) -> PresentedKey | None:
    """Return the parts of a key, None when the text is none."""
    found = _KEY.fullmatch(text) if len(text) <= LONGEST_KEY else None
    return None if found is None else PresentedKey(found[1], found[2])


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 of a secret (32 bytes). It has 256 random bits, so a slow hash would add nothing."""
    return sha256(secret.encode()).digest()
