"""Changes a tenant's name for people, its quotas, and whether it may work at all."""

from rearview.domain.principal import Caller
from rearview.domain.tenancy import Tenant
from rearview.domain.tenancy_changes import TenantChanges
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import TenantStore


class UpdateTenant:
    """Changes tenants. A disabled tenant's keys are refused from the next call on."""

    def __init__(self, tenants: TenantStore, clock: Clock) -> None:
        self._tenants = tenants
        self._clock = clock

    async def __call__(self, caller: Caller, name: str, changes: TenantChanges) -> Tenant:
        """Return the tenant as it is now. Raises: NotFound; EtagMismatch."""
        return await self._tenants.update(caller, name, changes, self._clock.now())
