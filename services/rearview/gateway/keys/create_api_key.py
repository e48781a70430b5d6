"""Makes a key for a principal, and the private namespace that every principal has."""

from datetime import datetime

from rearview.domain.errors import invalid_field
from rearview.domain.ids import new_id
from rearview.domain.names import NAMESPACE_ID
from rearview.domain.principal import Caller
from rearview.domain.tenancy import ApiKey, Namespace
from rearview.domain.tenancy_changes import CreatedApiKey
from rearview.domain.tenancy_requests import NewApiKey
from rearview.gateway.api_key import make_key
from rearview.gateway.keys.key_limits import check_within_limits
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import ApiKeyStore


class CreateApiKey:
    """Makes keys."""

    def __init__(self, keys: ApiKeyStore, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def __call__(
        self,
        caller: Caller,
        own_limits: tuple[str, ...],
        new: NewApiKey,
    ) -> CreatedApiKey:
        """Return the key and, unless the request is a repeat, its secret.

        `own_limits` are the namespaces to which the caller's own key is limited.

        Raises:
            InvalidFields: it would have expired already.
            NamespaceDenied: it would reach further than the caller's own key.
            RequestIdReused: the request id stands for another request.
        """
        now = self._clock.now()
        if new.expires_at is not None and new.expires_at <= now:
            raise invalid_field("api_key.expire_time", "lies in the past")
        check_within_limits(own_limits, new.namespaces)
        made = make_key()
        key = ApiKey(
            made.key_id,
            new.principal,
            new.role,
            now,
            new.namespaces,
            new.expires_at,
            requests_per_second=new.requests_per_second,
        )
        private = _private_namespace(new.principal, now)
        earlier = await self._keys.create(caller, key, made.secret_hash, private, new.request)
        if earlier is not None:
            return CreatedApiKey(earlier, secret=None)
        return CreatedApiKey(key, made.text)


def _private_namespace(principal: str, now: datetime) -> Namespace | None:
    # Namespaces know no dots; principals do.
    name = principal.replace(".", "-")
    if not NAMESPACE_ID.fullmatch(name):
        return None
    return Namespace(new_id(), name, principal, now, now)
