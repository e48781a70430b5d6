"""Reading the receipt of a forget."""

from collections.abc import Collection
from uuid import UUID

from rearview.domain.errors import NotFound
from rearview.domain.forget import ForgetReceipt
from rearview.ports.memory_reader import EventReader


class GetForgetReceipt:
    """Reads receipts of the caller's own tenant."""

    def __init__(self, events: EventReader) -> None:
        self._events = events

    async def get(self, tenant_id: UUID, readable_namespaces: Collection[UUID], receipt_id: UUID) -> ForgetReceipt:
        """Return a receipt of a namespace that the caller may read.

        Raises:
            NotFound: there is none, or the caller may not read its namespace.
            Unavailable: the store does not answer.
        """
        namespace_id, receipt = await self._events.receipt(tenant_id, receipt_id)
        if namespace_id not in readable_namespaces:
            name = f"forgetReceipts/{receipt_id}"
            raise NotFound(f"{name} does not exist", resource_name=name)
        return receipt
