"""Makes a key for a principal, and the private namespace that every principal has."""

from datetime import datetime

from rearview.domain.errors import invalid_field
from rearview.domain.ids import new_id
from rearview.domain.names import NAMESPACE_ID
from rearview.domain.principal import Caller, Role
from rearview.domain.tenancy import ApiKey, Namespace
from rearview.domain.tenancy_changes import CreatedApiKey
from rearview.domain.writing import RequestKey
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
        *,
        principal: str,
        role: Role,
        namespaces: tuple[str, ...],
        expires_at: datetime | None,
        request: RequestKey | None,
    ) -> CreatedApiKey:
        """Return the key and, unless the request is a repeat, its secret.

        `own_limits` are the namespaces to which the caller's own key is limited.

        Raises:
            InvalidFields: it would have expired already, or the role is not one of a tenant.
            NamespaceDenied: it would reach further than the caller's own key.
            RequestIdReused: the request id stands for another request.
        """
        now = self._clock.now()
        if role is Role.OPERATOR:
            raise invalid_field("api_key.role", "the operator's key is configured, not created")
        if expires_at is not None and expires_at <= now:
            raise invalid_field("api_key.expire_time", "lies in the past")
        check_within_limits(own_limits, namespaces)
        made = make_key()
        key = ApiKey(made.key_id, principal, role, now, namespaces, expires_at)
        earlier = await self._keys.create(caller, key, made.secret_hash, _private_namespace(principal, now), request)
        if earlier is not None:
            return CreatedApiKey(earlier, secret=None)
        return CreatedApiKey(key, made.text)


def _private_namespace(principal: str, now: datetime) -> Namespace | None:
    # Namespaces know no dots; principals do.
    name = principal.replace(".", "-")
    if not NAMESPACE_ID.fullmatch(name):
        return None
    return Namespace(new_id(), name, principal, now, now)
