"""The public keys with which an issuer's tokens are checked."""

from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A public key of `cryptography`, and the signature algorithms of RFC 7518 that it may be used with."""

    key_id: str
    algorithms: frozenset[str]
    public_key: Any = field(repr=False)


class SigningKeys(Protocol):
    """Finds keys by the id that stands in a token's header."""

    async def find(self, key_id: str) -> VerificationKey | None:
        """Return the key of this id, None when the issuer has none such.

        Raises:
            Unavailable: the issuer's keys are not known and cannot be read now.
        """
        ...
