"""What the vector index of a running stack finds of what an exact search finds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from rearview.adapters.models.registry import EmbedderSettings, open_embedder
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.recall_store import RECALL_SETTINGS, PostgresRecallStore
from rearview.cli.bulk_fill import place_of
from rearview.domain.principal import Scope
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.paths import DataFolder
from rearview.ports.recall_store import IndexRecall, Search

_TIMEOUT_SECONDS = 60.0


def index_recall(folder: DataFolder, namespace: str, questions: Sequence[str]) -> IndexRecall | None:
    """Return the averages over the questions; None where every search is exact, as in small namespaces.

    Raises:
        StackError: the stack does not run, or there is no such namespace.
        Unavailable: the database cannot be reached.
    """
    endpoints, place = place_of(folder, namespace)
    scope = Scope(place.tenant_id, place.namespace_id, namespace)
    return asyncio.run(_averages(folder, endpoints, scope, questions))


async def _averages(
    folder: DataFolder, endpoints: Endpoints, scope: Scope, questions: Sequence[str]
) -> IndexRecall | None:
    embedder = await asyncio.to_thread(open_embedder, EmbedderSettings(models_dir=folder.models))
    samples = []
    try:
        async with Database(
            endpoints.postgres_service_url, max_connections=1, settings=dict(RECALL_SETTINGS)
        ) as database:
            store = PostgresRecallStore(database)
            generation = await store.answering_generation(scope.tenant_id)
            for question in questions if generation else ():
                vector = embedder.generation.centre_one(await embedder.embed_query(question))
                search = Search(scope=scope, terms={}, vector=vector, folded_query="", now=datetime.now(UTC))
                assert generation is not None  # noqa: S101 - there are no questions without one
                sample = await store.index_recall(scope.tenant_id, search, generation, timeout_seconds=_TIMEOUT_SECONDS)
                samples += [sample] if sample else []
    finally:
        await embedder.close()
    if not samples:
        return None
    count = len(samples)
    return IndexRecall(sum(one.at_10 for one in samples) / count, sum(one.at_100 for one in samples) / count)
