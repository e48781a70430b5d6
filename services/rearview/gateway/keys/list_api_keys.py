"""Lists a tenant's keys, without secrets."""

from rearview.domain.paging import Page, PageRequest
from rearview.domain.principal import Caller
from rearview.domain.tenancy import ApiKey
from rearview.ports.tenancy_store import ApiKeyStore


class ListApiKeys:
    """Lists keys, the newest first, ended ones included."""

    def __init__(self, keys: ApiKeyStore) -> None:
        self._keys = keys

    async def __call__(self, caller: Caller, page: PageRequest) -> Page[ApiKey]:
        """Return a page of keys."""
        return await self._keys.list_keys(caller, page)
