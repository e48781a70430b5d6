"""Reads tenants: what they are called and may use, never what they hold."""

from rearview.domain.paging import Page, PageRequest
from rearview.domain.tenancy import Tenant
from rearview.ports.tenancy_store import TenantStore


class ReadTenants:
    """Reads one tenant, or pages of them."""

    def __init__(self, tenants: TenantStore) -> None:
        self._tenants = tenants

    async def one(self, name: str) -> Tenant:
        """Return a tenant. Raises: NotFound."""
        return await self._tenants.get(name)

    async def page(self, page: PageRequest) -> Page[Tenant]:
        """Return tenants by name."""
        return await self._tenants.list_tenants(page)
