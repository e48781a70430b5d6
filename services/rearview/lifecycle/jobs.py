"""The lifecycle's jobs by the names of their tasks."""

from collections.abc import Mapping
from uuid import UUID

from rearview.lifecycle.purge import Purger
from rearview.ports.job_queue import JobHandler


def job_handlers(purger: Purger) -> Mapping[str, JobHandler]:
    """Return the handlers; each may run more than once for one job."""

    async def purge(arguments: Mapping[str, str]) -> None:
        await purger.purge(UUID(arguments["tenant_id"]), UUID(arguments["receipt_id"]))

    return {"purge": purge}
