"""Reads namespaces: names, owners, counts."""

from uuid import UUID

from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Caller
from rearview.domain.tenancy import Namespace
from rearview.ports.tenancy_store import NamespaceStore, Reader


class ReadNamespaces:
    """Reads one namespace, or pages of those that the caller may read."""

    def __init__(self, namespaces: NamespaceStore) -> None:
        self._namespaces = namespaces

    async def one(self, caller: Caller, namespace_id: UUID) -> Namespace:
        """Return a namespace. Raises: NotFound: it was deleted meanwhile."""
        return await self._namespaces.get(caller, namespace_id)

    async def page(self, reader: Reader, page: PageRequest) -> Page[Namespace]:
        """Return readable namespaces by name."""
        return await self._namespaces.list_readable(reader, page)
