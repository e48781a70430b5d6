"""What a search of a running stack's cold segments finds of what comparing every vector finds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.cold.cold_reader import ColdReader
from rearview.adapters.cold.segment_files import SegmentFiles
from rearview.adapters.cold.segment_format import decode_segment
from rearview.adapters.cold.segment_search import of_language
from rearview.adapters.models.registry import EmbedderSettings, open_embedder
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.tiering import PostgresTiering
from rearview.adapters.s3.objects import S3Objects
from rearview.cli.bulk_fill import place_of
from rearview.domain.cold import ColdHits, ColdQuestion, ColdUnit
from rearview.domain.search_unit import UnitFlag
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.paths import DataFolder

NEAREST = 10
CANDIDATES = 100
"""Of each language, as a recall takes them."""

_CHINESE, _ENGLISH = int(UnitFlag.CHINESE), int(UnitFlag.ENGLISH)
_CACHE_BYTES = 2 * 1024**3


def cold_recall(folder: DataFolder, namespace: str, questions: Sequence[str]) -> float | None:
    """Return the share of the NEAREST units of each language, by the vectors as they were stored, that a search of the
    segments ranks among its first NEAREST, on average over the questions; None where nothing is cold.

    Raises:
        StackError: the stack does not run, or there is no such namespace.
        Unavailable: the database or object storage cannot be reached.
    """
    endpoints, place = place_of(folder, namespace)
    return asyncio.run(_average(folder, endpoints, place.tenant_id, place.namespace_id, questions))


async def _average(
    folder: DataFolder, endpoints: Endpoints, tenant_id: UUID, namespace_id: UUID, questions: Sequence[str]
) -> float | None:
    account = (endpoints.s3_endpoint, endpoints.s3_access_key, endpoints.s3_secret_key, endpoints.s3_bucket)
    embedder = await asyncio.to_thread(open_embedder, EmbedderSettings(models_dir=folder.models))
    shares: list[float] = []
    try:
        async with (
            Database(endpoints.postgres_service_url, max_connections=1) as database,
            S3Objects(*account, secure=False) as objects,
        ):
            segments = await PostgresTiering(database).segments(tenant_id, namespace_id)
            reader = ColdReader(objects, SegmentFiles(index_bytes=_CACHE_BYTES, payload_bytes=0, idle_seconds=3_600))
            units = [
                unit
                for segment in segments
                for memory in decode_segment(await objects.get(segment.object_key))
                for unit in memory.units
            ]
            lists = [_List.of(language, units) for language in (_CHINESE, _ENGLISH)]
            for question in questions:
                vector = embedder.generation.centre_one(await embedder.embed_query(question))
                asked = ColdQuestion(vector, {}, languages=(_CHINESE, _ENGLISH), limit=CANDIDATES)
                hits = (await reader.search(segments, asked)).hits()
                shares += [each.share_found(vector, hits) for each in lists if each.units]
    finally:
        await embedder.close()
    return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True, slots=True, eq=False)
class _List:
    """The units of a language; vectors (n, d) float32 of length 1."""

    language: int
    units: Sequence[ColdUnit]
    vectors: NDArray[np.float32]

    @classmethod
    def of(cls, language: int, units: Sequence[ColdUnit]) -> _List:
        flags = np.array([unit.flags for unit in units], np.int64)
        own = [units[at] for at in np.flatnonzero(of_language(flags, language)).tolist()]
        stored = np.array([unit.embedding for unit in own], np.float32)
        return cls(language, own, stored / np.linalg.norm(stored, axis=-1, keepdims=True))

    def share_found(self, vector: NDArray[np.float32], hits: ColdHits) -> float:
        nearest = np.argsort(-(self.vectors @ vector), kind="stable")[:NEAREST]
        own = of_language(hits.flags, self.language)
        first = np.argsort(-hits.similarity[own], kind="stable")[:NEAREST]
        found = {unit_id.tobytes() for unit_id in hits.unit_ids[own][first]}
        return sum(self.units[at].unit_id.bytes in found for at in nearest) / len(nearest)
