"""Makes a tenant that can be used at once: with a namespace and a first admin key."""

from rearview.domain.ids import new_id
from rearview.domain.principal import Caller, Role
from rearview.domain.tenancy import DEFAULT_NAMESPACE, FIRST_ADMIN, ApiKey, Namespace, Tenant
from rearview.domain.tenancy_changes import CreatedTenant
from rearview.domain.tenancy_requests import NewTenant
from rearview.gateway.api_key import make_key
from rearview.gateway.display_names import DisplayNames
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import TenantStore


class CreateTenant:
    """Makes tenants."""

    def __init__(self, tenants: TenantStore, display_names: DisplayNames, clock: Clock) -> None:
        self._tenants = tenants
        self._display_names = display_names
        self._clock = clock

    async def __call__(
        self,
        caller: Caller,
        new: NewTenant,
    ) -> CreatedTenant:
        """Return the tenant, its first key and, unless the request is a repeat, that key's secret.

        Raises:
            AlreadyExists: the name is taken.
            RequestIdReused: the request id stands for another request.
        """
        now = self._clock.now()
        display_name = self._display_names.stored(new.display_name)
        tenant = Tenant(new_id(), new.name, display_name, now, new.disabled, new.quotas)
        made = make_key()
        key = ApiKey(made.key_id, FIRST_ADMIN, Role.ADMIN, now)
        namespace = Namespace(new_id(), DEFAULT_NAMESPACE, FIRST_ADMIN, now, now)
        earlier = await self._tenants.create(caller, tenant, key, made.secret_hash, namespace, new.request)
        if earlier is not None:
            return CreatedTenant(*earlier, secret=None)
        return CreatedTenant(tenant, key, made.text)
