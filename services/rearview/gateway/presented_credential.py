"""The credential in a call's metadata."""

from collections.abc import Iterable

from rearview.domain.errors import CredentialInvalid, CredentialMissing
from rearview.gateway.tokens.verify_token import LONGEST_TOKEN

AUTHORIZATION = "authorization"
API_KEY = "x-api-key"

_SCHEME = "bearer "


def presented_credential(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Return the one key or token that the call carries: `authorization: Bearer <key or token>`, `x-api-key: <key>`.

    Raises:
        CredentialMissing: there is none.
        CredentialInvalid: there are several, or it cannot be one.
    """
    found = [(name, value) for name, value in metadata if name.lower() in (AUTHORIZATION, API_KEY)]
    if not found:
        raise CredentialMissing("no credential came with the call; send `authorization: Bearer <key>`")
    name, value = found[0]
    if len(found) > 1 or not isinstance(value, str) or len(value) > LONGEST_TOKEN + len(_SCHEME):
        raise invalid_credential()
    if name.lower() == API_KEY:
        return value
    if value[: len(_SCHEME)].lower() != _SCHEME:
        raise invalid_credential()
    return value[len(_SCHEME) :].strip(" ")


def invalid_credential() -> CredentialInvalid:
    """Return the one error for every credential that is unknown, malformed or revoked: they are not told apart."""
    return CredentialInvalid("the credential is unknown, malformed or revoked")
