"""From the text of a bearer token to whom it speaks for: signature first, then everything that it says."""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import jwt

from rearview.domain.errors import CredentialExpired, CredentialInvalid
from rearview.gateway.tokens.claims import ClaimNames, TokenIdentity, identity_in
from rearview.ports.clock import Clock
from rearview.ports.signing_keys import SigningKeys, VerificationKey

LONGEST_TOKEN = 7_168
"""Peers accept 8 KiB of metadata."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*", re.ASCII)
# RFC 9068 access tokens, and plain ones. Others - logout tokens, proofs of possession - are of other protocols, though
# the same issuer signs them with the same keys.
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_PROBLEMS: tuple[tuple[type[jwt.InvalidTokenError], str, str], ...] = (
    (jwt.ImmatureSignatureError, "not_yet_valid", "is not valid yet"),
    (jwt.InvalidAudienceError, "audience", "is not meant for this service"),
    (jwt.InvalidIssuerError, "issuer", "is of another issuer"),
    (jwt.InvalidSignatureError, "signature", "has a signature that does not fit"),
    (jwt.InvalidAlgorithmError, "algorithm", "is signed with an algorithm that is not accepted"),
)


def is_token(text: str) -> bool:
    """True if a credential has the form of a token; API keys have no dots."""
    return _TOKEN.fullmatch(text) is not None


class TokenVerifier:
    """Checks tokens of one issuer."""

    def __init__(
        self,
        keys: SigningKeys,
        clock: Clock,
        *,
        issuer: str,
        audience: str,
        algorithms: Collection[str],
        leeway_seconds: float,
        longest_seconds: float,
        names: ClaimNames,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._issuer, self._audience = issuer, audience
        self._algorithms = frozenset(algorithms)
        self._leeway_seconds, self._longest_seconds = leeway_seconds, longest_seconds
        self._names = names

    async def verify(self, token: str) -> TokenIdentity:
        """Return whom a token speaks for.

        What is wrong with a token is told: an attacker can read all of it, its makers need to know.

        Raises:
            CredentialInvalid: it is refused; the metadata `problem` says why.
            CredentialExpired: it has expired.
            Unavailable: the issuer's keys are not known and cannot be read.
        """
        algorithm, key = await self._key_of(token)
        claims = self._claims(token, algorithm, key)
        self._check_lifetime(claims)
        return identity_in(claims, self._names)

    async def _key_of(self, token: str) -> tuple[str, VerificationKey]:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise refused("malformed", "is malformed") from error
        algorithm, key_id, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
        if not isinstance(algorithm, str) or algorithm not in self._algorithms:
            raise refused("algorithm", "is signed with an algorithm that is not accepted")
        if not isinstance(kind, str) or kind.lower() not in _TYPES or "crit" in header:
            raise refused("type", "is of a type that is not accepted")
        if not isinstance(key_id, str):
            raise refused("key", "names no key (`kid`)")
        key = await self._keys.find(key_id)
        if key is None:
            raise refused("key", "names a key that its issuer does not publish")
        if algorithm not in key.algorithms:
            raise refused("algorithm", "names a key that is not for its algorithm")
        return algorithm, key

    def _claims(self, token: str, algorithm: str, key: VerificationKey) -> dict[str, Any]:
        try:
            return jwt.decode(
                token,
                key.public_key,
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=self._leeway_seconds,
                # Expiry is checked below, against the same clock as that of API keys.
                options={"require": ["exp", "iss", "aud"], "verify_exp": False},
            )
        except jwt.MissingRequiredClaimError as error:
            raise CredentialInvalid(
                f"the token lacks the claim {error.claim}", problem="claim", claim=error.claim
            ) from error
        except jwt.InvalidTokenError as error:
            for kind, problem, what in _PROBLEMS:
                if isinstance(error, kind):
                    raise refused(problem, what) from error
            raise refused("malformed", "is malformed") from error

    def _check_lifetime(self, claims: dict[str, Any]) -> None:
        now = self._clock.now().timestamp()
        try:
            expires_at = float(claims["exp"])
            expire_time = datetime.fromtimestamp(expires_at, UTC).isoformat()
        except (TypeError, ValueError, OverflowError, OSError) as error:
            raise CredentialInvalid("the token's claim exp is no time", problem="claim", claim="exp") from error
        if expires_at + self._leeway_seconds <= now:
            raise CredentialExpired("the token has expired", expire_time=expire_time)
        if expires_at - now > self._longest_seconds + self._leeway_seconds:
            raise refused("lifetime", f"is good for longer than {self._longest_seconds:.0f} seconds")


def refused(problem: str, what: str) -> CredentialInvalid:
    """Return the error for a token that is not accepted."""
    return CredentialInvalid(f"the token {what}", problem=problem)
