"""Changes a tenant's name for people, its quotas, and whether it may work at all."""

from dataclasses import replace

from rearview.domain.principal import Caller
from rearview.domain.tenancy import Tenant
from rearview.domain.tenancy_changes import TenantChanges
from rearview.gateway.display_names import DisplayNames
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import TenantStore


class UpdateTenant:
    """Changes tenants. A disabled tenant's keys are refused from the next call on."""

    def __init__(self, tenants: TenantStore, display_names: DisplayNames, clock: Clock) -> None:
        self._tenants = tenants
        self._display_names = display_names
        self._clock = clock

    async def __call__(self, caller: Caller, name: str, changes: TenantChanges) -> Tenant:
        """Return the tenant as it is now. Raises: NotFound; EtagMismatch."""
        changes = replace(changes, display_name=self._display_names.changed(changes.display_name))
        return await self._tenants.update(caller, name, changes, self._clock.now())
