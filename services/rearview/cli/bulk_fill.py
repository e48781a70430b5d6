"""Fills a namespace of a running stack by the bulk path: see `bulk_turns` for what is synthetic about it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.registry import EmbedderSettings, open_embedder
from rearview.adapters.postgres.bulk_load import BulkLoad, NamespacePlace
from rearview.cli.bulk_turns import TURNS_PER_SESSION, BulkTurns, KnownText
from rearview.domain.generation import EmbeddingGeneration
from rearview.domain.segmentation import DEFAULT_LONGEST_GAP, SegmentationRules
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DataFolder
from rearview.evaluation.progress import Steps
from rearview.language.analyzer import RuleAnalyzer
from rearview.ports.working_memory import SessionKey

REBUILD_FROM = 20_000
"""From so many units on, the vector index is built after them instead of grown by each."""

LATE_SHARE = 0.1
"""The last tenth of the texts is held back: the last tenth of the units is made of it, and inserted through the
finished index, as a new domain comes in."""

_SESSIONS_A_COPY = 200
_TEXTS_A_BATCH = 256
_MAINTENANCE_MEGABYTES = 1_536
_INDEX_WORKERS = 2


def place_of(folder: DataFolder, namespace: str) -> tuple[Endpoints, NamespacePlace]:
    """Return a running stack's addresses and where its first tenant's namespace of this name is.

    Raises:
        StackError: the stack does not run, or there is no such namespace.
    """
    endpoints = Endpoints.read(folder.endpoints_file)
    if endpoints is None or endpoints.tenant is None:
        raise StackError(f"there is no running stack in {folder.root}")
    with BulkLoad(endpoints.postgres_owner_url) as load:
        place = load.place(endpoints.tenant, namespace)
    if place is None:
        raise StackError(f"there is no namespace {namespace}")
    return endpoints, place


class BulkFill:
    """Fills namespaces with turns composed of `texts`."""

    def __init__(self, folder: DataFolder, texts: Sequence[str], steps: Steps) -> None:
        """Embed and analyse the texts. Vectors are kept in the data folder for the next time."""
        self._folder = folder
        self._steps = steps
        self._generation, plain = asyncio.run(_vectors(folder, texts, steps.start("embed", len(texts))))
        self._known = _analysed(texts, plain)

    def fill(self, namespace: str, units: int, *, seed: int = 0, turns_per_session: int = TURNS_PER_SESSION) -> None:
        """Write `units` search units with everything that belongs to them into a new namespace.

        Raises:
            StackError: there is no such namespace, or nothing was ever indexed.
            Unavailable: the database cannot be reached.
        """
        now = datetime.now(UTC)
        late_texts = max(1, round(len(self._known) * LATE_SHARE))
        late_units = round(units * LATE_SHARE)
        endpoints, place = place_of(self._folder, namespace)
        with BulkLoad(endpoints.postgres_owner_url) as load:
            generation = load.generation()
            if generation is None:
                raise StackError("nothing was indexed yet, so there are no search tables")
            key = SessionKey(place.tenant_id, place.namespace_id, f"bulk-{seed}")
            thresholds = self._generation.thresholds
            rules = SegmentationRules(
                thresholds.segment_boundary_cosine, thresholds.segment_turn_cosine, DEFAULT_LONGEST_GAP
            )
            turns = BulkTurns(self._known[:-late_texts], key, self._generation, rules, seed, turns_per_session)
            shown = self._steps.start("store", units)

            def store(composed: BulkTurns, count: int) -> None:
                sessions = composed.sessions(count, now)
                while batch := list(islice(sessions, _SESSIONS_A_COPY)):
                    load.copy(place, generation, batch, now)
                    shown(sum(len(session.units) for session in batch))

            if units >= REBUILD_FROM:
                with load.vector_indexes_rebuilt(
                    generation, maintenance_megabytes=_MAINTENANCE_MEGABYTES, workers=_INDEX_WORKERS
                ):
                    store(turns, units - late_units)
            else:
                store(turns, units - late_units)
            store(turns.continued_with(self._known[-late_texts:]), late_units)
            load.count(place, turns.counts)
            load.settle(generation)


async def _vectors(
    folder: DataFolder, texts: Sequence[str], on_done: Callable[[int], None]
) -> tuple[EmbeddingGeneration, NDArray[np.float32]]:
    embedder = await asyncio.to_thread(open_embedder, EmbedderSettings(models_dir=folder.models))
    try:
        generation = embedder.generation
        kept = _kept_vectors(folder, generation, texts)
        if kept.exists():
            return generation, np.load(kept)
        rows = []
        for start in range(0, len(texts), _TEXTS_A_BATCH):
            batch = texts[start : start + _TEXTS_A_BATCH]
            rows.append(generation.centre(await embedder.embed_passages(batch)))
            on_done(len(batch))
    finally:
        await embedder.close()
    plain = np.concatenate(rows)
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.save(kept, plain)
    return generation, plain


def _kept_vectors(folder: DataFolder, generation: EmbeddingGeneration, texts: Sequence[str]) -> Path:
    content = "\0".join([generation.generation_id, *texts]).encode()
    return folder.root / "bench" / f"vectors-{hashlib.sha256(content).hexdigest()[:16]}.npy"


def _analysed(texts: Sequence[str], plain: NDArray[np.float32]) -> list[KnownText]:
    now = datetime.now(UTC)
    found = RuleAnalyzer().analyze_batch(texts, references=[now] * len(texts), roles=["user"] * len(texts))
    return [KnownText(text, analysis, plain[at]) for at, (text, analysis) in enumerate(zip(texts, found, strict=True))]
