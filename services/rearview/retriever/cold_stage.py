"""Recall beyond the hot and warm tiers: when segments are searched, and how what they hold joins the rest."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.cold import ColdContent, filled
from rearview.domain.errors import RearviewError
from rearview.domain.memory import Tier
from rearview.ports.cold_recall import ColdRoutes, SegmentsReplaced
from rearview.ports.found_units import NO_UNITS, FoundUnits, of_all_tiers
from rearview.ports.recall_store import Chosen, Found, Generation, Loaded, RecallStore, Search
from rearview.ports.tiering import ColdContents
from rearview.retriever.deadline import Deadline

Contents = Mapping[UUID, ColdContent]

SHARE = 0.7
"""Of the time that is left: whatever object storage does, what else was found is to be answered."""

LEAST_SECONDS = 0.1
"""With less left nobody looks into segments unasked."""


class ColdStage:
    """Searches segments, and loads the content of what was found in them. Neither raises: what fails is left out."""

    def __init__(self, routes: ColdRoutes, contents: ColdContents, store: RecallStore) -> None:
        self._routes = routes
        self._store = store
        self._cold_contents = contents

    async def join(
        self,
        tenant_id: UUID,
        searches: Sequence[Search],
        found: Sequence[Found],
        generation: Generation | None,
        vectors: Mapping[str, NDArray[np.float32]],
        seconds: float,
    ) -> tuple[list[Found], bool]:
        """Return what was found with the units of segments, and whether all that should be searched was. Segments with
        vectors of another generation are searched with the query's vector of that one, out of `vectors`. Where
        segments were replaced since they were found, everything is searched once more."""
        if generation is None:
            return list(found), True
        deadline = Deadline(SHARE * seconds)

        async def with_units(search: Search, hot: Found) -> Found:
            units = [
                await self._find(tenant_id, search, hot, generation, ordinal, vectors, deadline.left_seconds())
                for ordinal in sorted({segment.generation for segment in hot.segments})
            ]
            return replace(hot, units=of_all_tiers([hot.units, *units], search.route_limit(hot.statistics)))

        async def one(search: Search, hot: Found) -> Found | None:
            try:
                try:
                    return await with_units(search, hot)
                except SegmentsReplaced:
                    # All tiers as of one moment: what left a segment may be in another one, or hot again.
                    left = deadline.left_seconds()
                    (again,) = await self._store.search(tenant_id, [search], generation, timeout_seconds=left)
                    return await with_units(search, again)
            except RearviewError:
                return None

        joined = await asyncio.gather(*(one(search, hot) for search, hot in zip(searches, found, strict=True)))
        whole = [new or hot for new, hot in zip(joined, found, strict=True)]
        return whole, all(one is not None for one in joined)

    async def _find(
        self,
        tenant_id: UUID,
        search: Search,
        hot: Found,
        generation: Generation,
        ordinal: int,
        vectors: Mapping[str, NDArray[np.float32]],
        seconds: float,
    ) -> FoundUnits:
        if ordinal == generation.ordinal:
            return await self._routes.find(tenant_id, search, hot, generation, timeout_seconds=seconds)
        other = await self._store.generation_by_ordinal(ordinal)
        if other is None:
            return NO_UNITS
        vector = None if search.vector is None else vectors.get(other.generation_id)
        search = replace(search, vector=vector)
        units = await self._routes.find(tenant_id, search, hot, other, timeout_seconds=seconds)
        # Vectors of two models are not compared; their cosines are, by what each model gives texts that say the same.
        return replace(units, similarity=units.similarity * generation.same_cosine / other.same_cosine)

    async def contents(self, tenant_id: UUID, chosen: Sequence[Chosen], seconds: float) -> list[Contents]:
        """Return what segments keep of the memories chosen, in the order of `chosen`, as far as it can be read."""
        wanted = ((one.scope.namespace_id, frozenset(one.units.values())) for one in chosen)
        return list(await asyncio.gather(*(self._contents(tenant_id, *one, seconds) for one in wanted)))

    async def fill(
        self,
        tenant_id: UUID,
        chosen: Sequence[Chosen],
        loaded: Sequence[Loaded],
        known: Sequence[Contents],
        seconds: float,
    ) -> tuple[list[Loaded], bool]:
        """Return what was loaded with the content of its cold memories; those that cannot be read are left out. `known`
        is what was read of them before, in the order of `chosen`."""
        parts = await asyncio.gather(
            *(
                self._fill(tenant_id, one, part, contents, seconds)
                for one, part, contents in zip(chosen, loaded, known, strict=True)
            )
        )
        return [part for part, _ in parts], all(well for _, well in parts)

    async def _fill(
        self, tenant_id: UUID, chosen: Chosen, loaded: Loaded, known: Contents, seconds: float
    ) -> tuple[Loaded, bool]:
        cold = {memory.memory_id for memory in loaded.memories.values() if memory.tier is Tier.COLD}
        if not cold:
            return loaded, True
        contents = known
        if missing := cold - known.keys():
            contents = {**known, **await self._contents(tenant_id, chosen.scope.namespace_id, missing, seconds)}
        memories = {
            memory_id: filled(memory, contents[memory_id]) if memory_id in cold else memory
            for memory_id, memory in loaded.memories.items()
            if memory_id not in cold or memory_id in contents
        }
        return replace(loaded, memories=memories), len(memories) == len(loaded.memories)

    async def _contents(
        self, tenant_id: UUID, namespace_id: UUID, memory_ids: Collection[UUID], seconds: float
    ) -> Contents:
        try:
            async with asyncio.timeout(SHARE * seconds):
                return await self._cold_contents.contents(tenant_id, namespace_id, memory_ids)
        except (RearviewError, TimeoutError):
            return {}
