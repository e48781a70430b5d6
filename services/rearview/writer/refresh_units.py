"""The turns around forgotten ones: their vectors and keywords are made anew, so that no trace of those is left."""

from uuid import UUID

from rearview.ports.analyzer import Analyzer
from rearview.ports.embedder import Embedder
from rearview.ports.forgetting import StaleUnitStore
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.tiering import Rehydrator
from rearview.writer.window_reader import WindowReader

_AT_ONCE = 32


class UnitRefresher:
    """The job `refresh_units`. Running it again changes nothing."""

    def __init__(
        self,
        store: StaleUnitStore,
        embedder: Embedder,
        analyzer: Analyzer,
        hasher: KeywordHasher,
        rehydrator: Rehydrator,
    ) -> None:
        self._store = store
        self._windows = WindowReader(embedder, analyzer, hasher)
        self._rehydrator = rehydrator

    async def refresh(self, tenant_id: UUID, receipt_id: UUID) -> None:
        """Make anew what a forget, or its restore, left to be made anew, in bounded parts.

        Raises:
            ModelUnavailable: the embedder cannot answer; the job is tried again and goes on from there.
            Unavailable: the database or object storage cannot be reached.
        """
        while (stale := await self._store.some(tenant_id, receipt_id, limit=_AT_ONCE)) is not None:
            if stale.cold:
                await self._rehydrator.rehydrate(tenant_id, stale.namespace_id, stale.cold)
            await self._store.replace(
                tenant_id, receipt_id, stale, await self._windows.units(stale.namespace_id, stale.turns)
            )
