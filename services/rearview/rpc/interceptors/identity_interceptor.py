"""Internal services serve nobody whose identity the gateway has not signed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rearview.domain.errors import CredentialMissing
from rearview.rpc.call_context import set_caller
from rearview.rpc.identity import IDENTITY_KEY, MIN_KEY_BYTES, verify_identity
from rearview.rpc.interceptors.call_interceptor import CallInterceptor, IncomingCall


class IdentityInterceptor(CallInterceptor):
    """Verifies the metadata `rearview-identity` and binds the caller; only health, reflection and channelz are open.

    Raises:
        ValueError: the key is shorter than 32 bytes.
    """

    def __init__(self, internal_key: str | bytes) -> None:
        self._key = internal_key.encode() if isinstance(internal_key, str) else internal_key
        if len(self._key) < MIN_KEY_BYTES:
            raise ValueError(f"the key that signs identities must have at least {MIN_KEY_BYTES} bytes")

    @asynccontextmanager
    async def around(self, call: IncomingCall) -> AsyncIterator[None]:
        """Serve the call if it comes with a valid identity.

        Raises:
            CredentialMissing: it carries none.
            CredentialInvalid: it is forged, of another audience, or expired.
        """
        if not call.is_of_platform:
            token = call.text(IDENTITY_KEY)
            if not token:
                raise CredentialMissing("internal calls carry a signed identity; this one does not")
            set_caller(verify_identity(token, self._key))
        yield
