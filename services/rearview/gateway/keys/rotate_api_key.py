"""Gives a key a successor, so that it can be replaced everywhere while both work."""

from datetime import timedelta

from rearview.domain.errors import PreconditionFailed
from rearview.domain.principal import Caller
from rearview.domain.tenancy import ApiKey
from rearview.domain.tenancy_changes import CreatedApiKey
from rearview.gateway.api_key import make_key
from rearview.gateway.keys.key_limits import check_within_limits
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import ApiKeyStore


class RotateApiKey:
    """Rotates keys. The successor speaks for the same principal in the same places, for as long a time
    and as often."""

    def __init__(self, keys: ApiKeyStore, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def __call__(
        self, caller: Caller, own_limits: tuple[str, ...], key_id: str, overlap: timedelta
    ) -> CreatedApiKey:
        """Return the successor and its secret; the old key ends after `overlap`.

        Raises:
            NotFound: there is no such key.
            NamespaceDenied: it reaches further than the caller's own key.
            PreconditionFailed: it has ended already.
        """
        now = self._clock.now()
        old = await self._keys.get(caller, key_id)
        check_within_limits(own_limits, old.namespaces)
        if old.expires_at is not None and old.expires_at <= now:
            raise PreconditionFailed("the key has expired", resource_name=f"apiKeys/{key_id}", state="expired")
        lifetime = None if old.expires_at is None else old.expires_at - old.created_at
        made = make_key()
        successor = ApiKey(
            made.key_id,
            old.principal,
            old.role,
            now,
            old.namespaces,
            None if lifetime is None else now + lifetime,
            requests_per_second=old.requests_per_second,
        )
        await self._keys.rotate(caller, key_id, successor, made.secret_hash, now + overlap)
        return CreatedApiKey(successor, made.text)
