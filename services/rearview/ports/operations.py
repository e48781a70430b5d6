"""Where long work is kept until it has ended, and after."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.operation import Operation
from rearview.domain.principal import Caller


class Operations(Protocol):
    """Operations of tenants. All methods raise Unavailable."""

    async def begin(self, caller: Caller, tenant_id: UUID, operation: Operation) -> Operation:
        """Keep a new operation and have it carried out, in one transaction with its audit record."""
        ...

    async def get(self, tenant_id: UUID, operation_id: UUID) -> Operation:
        """Return an operation. Raises: NotFound."""
        ...

    async def expect(self, tenant_id: UUID, operation_id: UUID, total: int) -> None:
        """Say how much there is to do."""
        ...

    async def progress(self, tenant_id: UUID, operation_id: UUID, completed: int, counts: Mapping[str, int]) -> None:
        """Add to what is done."""
        ...

    async def end(self, tenant_id: UUID, operation_id: UUID, *, error: str, now: datetime) -> None:
        """Say that it has ended, badly with an `error`."""
        ...
