"""Deletes a tenant; what it held is erased by the lifecycle service."""

from rearview.domain.principal import Caller
from rearview.ports.clock import Clock
from rearview.ports.tenancy_store import TenantStore


class DeleteTenant:
    """Deletes tenants. Their keys are refused from the next call on."""

    def __init__(self, tenants: TenantStore, clock: Clock) -> None:
        self._tenants = tenants
        self._clock = clock

    async def __call__(self, caller: Caller, name: str) -> None:
        """Delete it; doing it again changes nothing. Raises: NotFound; LegalHold."""
        await self._tenants.delete(caller, name, self._clock.now())
