"""The lifecycle's jobs by the names of their tasks."""

from collections.abc import Mapping
from uuid import UUID

from rearview.lifecycle.erase_tenant import TenantEraser
from rearview.lifecycle.operations import OperationWork
from rearview.lifecycle.purge import Purger
from rearview.lifecycle.sweep import Sweeper
from rearview.lifecycle.verify_purge import PurgeVerifier
from rearview.ports.job_queue import JobHandler


def job_handlers(
    purger: Purger, verifier: PurgeVerifier, sweeper: Sweeper, operations: OperationWork, tenants: TenantEraser
) -> Mapping[str, JobHandler]:
    """Return the handlers; each may run more than once for one job."""

    async def purge(arguments: Mapping[str, str]) -> None:
        tenant_id, receipt_id = UUID(arguments["tenant_id"]), UUID(arguments["receipt_id"])
        await purger.purge(tenant_id, receipt_id)
        await verifier.verify(tenant_id, receipt_id)

    async def sweep(arguments: Mapping[str, str]) -> None:
        await sweeper.sweep(UUID(arguments["tenant_id"]), UUID(arguments["namespace_id"]), _nobody)

    async def operation(arguments: Mapping[str, str]) -> None:
        await operations.carry_out(UUID(arguments["tenant_id"]), UUID(arguments["operation_id"]))

    async def erase_tenant(arguments: Mapping[str, str]) -> None:
        await tenants.erase(UUID(arguments["tenant_id"]))

    return {"purge": purge, "sweep": sweep, "operation": operation, "erase_tenant": erase_tenant}


async def _nobody(counts: Mapping[str, int]) -> None:
    """Take the progress of a sweep that nobody waits for."""
