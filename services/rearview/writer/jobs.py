"""The writer's jobs by the names of their tasks."""

from collections.abc import Mapping
from uuid import UUID

from rearview.ports.job_queue import JobHandler
from rearview.ports.tiering import Rehydrator
from rearview.ports.working_memory import SessionKey
from rearview.writer.facts.restate import FactRestater
from rearview.writer.facts.summarise import HistorySummariser
from rearview.writer.forget import Forgetter
from rearview.writer.index_session import SessionIndexer
from rearview.writer.merge_fresh_units import UnitMerger
from rearview.writer.refresh_units import UnitRefresher


def job_handlers(
    indexer: SessionIndexer,
    merger: UnitMerger,
    forgetter: Forgetter,
    summariser: HistorySummariser,
    refresher: UnitRefresher,
    restater: FactRestater,
    rehydrator: Rehydrator,
) -> Mapping[str, JobHandler]:
    """Return the handlers; each may run more than once for one job."""

    async def index_session(arguments: Mapping[str, str]) -> None:
        await indexer.index(_session(arguments))

    async def close_session_windows(arguments: Mapping[str, str]) -> None:
        await indexer.close_if_silent(_session(arguments))

    async def merge_fresh_units(arguments: Mapping[str, str]) -> None:
        await merger.merge(UUID(arguments["tenant_id"]), UUID(arguments["namespace_id"]))

    async def clear_working_memory(arguments: Mapping[str, str]) -> None:
        await forgetter.clear_working_memory(UUID(arguments["tenant_id"]), UUID(arguments["receipt_id"]))

    async def refresh_units(arguments: Mapping[str, str]) -> None:
        await refresher.refresh(UUID(arguments["tenant_id"]), UUID(arguments["receipt_id"]))

    async def summarise_fact(arguments: Mapping[str, str]) -> None:
        await summariser.summarise(
            UUID(arguments["tenant_id"]), UUID(arguments["namespace_id"]), UUID(arguments["memory_id"])
        )

    async def restate_fact(arguments: Mapping[str, str]) -> None:
        await restater.restate(
            UUID(arguments["tenant_id"]), UUID(arguments["namespace_id"]), UUID(arguments["memory_id"])
        )

    async def rehydrate_memory(arguments: Mapping[str, str]) -> None:
        memory_id = UUID(arguments["memory_id"])
        await rehydrator.rehydrate(UUID(arguments["tenant_id"]), UUID(arguments["namespace_id"]), [memory_id])

    return {
        "index_session": index_session,
        "close_session_windows": close_session_windows,
        "merge_fresh_units": merge_fresh_units,
        "clear_working_memory": clear_working_memory,
        "summarise_fact": summarise_fact,
        "refresh_units": refresh_units,
        "restate_fact": restate_fact,
        "rehydrate_memory": rehydrate_memory,
    }


def _session(arguments: Mapping[str, str]) -> SessionKey:
    return SessionKey(UUID(arguments["tenant_id"]), UUID(arguments["namespace_id"]), arguments["session_id"])
