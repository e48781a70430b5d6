"""Ends a key at once."""

from rearview.domain.principal import Caller
from rearview.domain.tenancy import ApiKey
from rearview.gateway.keys.key_limits import check_within_limits
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import ApiKeyStore


class RevokeApiKey:
    """Revokes keys: keys are looked up on every call, so the next one is refused."""

    def __init__(self, keys: ApiKeyStore, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def __call__(self, caller: Caller, own_limits: tuple[str, ...], key_id: str) -> ApiKey:
        """Return the key as it is now; revoking it again changes nothing.

        Raises:
            NotFound: there is no such key.
            NamespaceDenied: it reaches further than the caller's own key.
        """
        if own_limits:
            check_within_limits(own_limits, (await self._keys.get(caller, key_id)).namespaces)
        return await self._keys.revoke(caller, key_id, self._clock.now())
