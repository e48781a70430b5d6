"""One pass of a rescan over every place of a tenant.

Each step is one transaction, or can be repeated: what was rewritten is not found again, and what is still to be made
anew stands in a list that was written with the text.
"""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from uuid import UUID

from rearview.domain.cold import ColdMemory
from rearview.domain.memory import Tier
from rearview.domain.operation import Operation
from rearview.domain.principal import Scope
from rearview.domain.redaction import RedactionPolicy
from rearview.lifecycle.cold_moves import ColdMoves
from rearview.lifecycle.fault_points import FaultPoints
from rearview.lifecycle.patient_lease import patient_lease
from rearview.lifecycle.rescan_draft import EVENTS, MEMORIES, GroupDraft
from rearview.lifecycle.rescan_metrics import OnRewritten
from rearview.lifecycle.unit_vectors import UnitVectors
from rearview.ports.clock import Clock
from rearview.ports.embedders import Embedders
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.operations import Operations
from rearview.ports.reembedding import ReembeddingStore
from rearview.ports.rescan import (
    AnswerErasure,
    PlainText,
    RescanStore,
    SessionPlace,
    StoredEvent,
    StoredMemory,
    TextGroup,
    WorkingTexts,
)
from rearview.ports.tiering import Rehydrator, SegmentStore, TierStore
from rearview.redaction.stored_memories import redacted_stored_memory
from rearview.redaction.texts import Redaction, RedactionParts, redacted_event

SEGMENTS, WORKING_MEMORY, ANSWERS = "s3.cold_memory", "redis.working_memory", "redis.answers"
PLAIN = {"trace": "postgres.recall_trace", "receipt": "postgres.forget_receipt"}
_NIL = UUID(int=0)
_EVERY_PRIORITY = 2.0
"""Above all priorities: what was cold goes back there."""


@dataclass(frozen=True, slots=True)
class RescanRules:
    """How many texts are read at once, how many units are embedded at once, and how long a namespace's lease lasts."""

    page: int = 100
    units: int = 64
    lease: timedelta = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class RescanParts:
    """What a pass works with. `bands` are those by which repetitions of a text are found."""

    store: RescanStore
    operations: Operations
    tiers: TierStore
    moves: ColdMoves
    segments: SegmentStore
    rehydrator: Rehydrator
    generations: ReembeddingStore
    embedders: Embedders
    vectors: UnitVectors
    hasher: KeywordHasher
    bands: Callable[[str], tuple[int, ...]]
    redaction: RedactionParts
    working: WorkingTexts
    answers: AnswerErasure
    clock: Clock
    rules: RescanRules
    faults: FaultPoints
    on_rewritten: OnRewritten


class RescanPass:
    """Goes once over everything; `found` counts texts that the policy takes something out of."""

    def __init__(
        self, parts: RescanParts, tenant_id: UUID, operation: Operation, policy: RedactionPolicy, *, dry_run: bool
    ) -> None:
        self.found = 0
        self._parts = parts
        self._tenant_id = tenant_id
        self._operation_id = operation.operation_id
        self._policy = policy
        self._dry_run = dry_run
        self._were_cold: defaultdict[UUID, set[UUID]] = defaultdict(set)

    async def run(self) -> None:
        """Rewrite what there is to rewrite, or (a dry run) count it.

        Raises:
            Conflict, Unavailable, DeadlineExceeded, ModelError: it cannot go on now; another pass goes on from here.
            InvalidFields: a payload is nested too deep.
        """
        await self._make_units()
        for namespace_id in await self._parts.tiers.namespaces(self._tenant_id, None):
            await self._events(namespace_id)
            await self._memories(namespace_id)
            await self._cold(namespace_id)
        for kind in PLAIN:
            await self._plain(kind)
        self._parts.faults.reach("rescan.plain_rewritten")
        if not self._dry_run:
            await self._originals()
            await self._volatile()
            self._parts.faults.reach("rescan.volatile_erased")

    async def _events(self, namespace_id: UUID) -> None:
        after = SessionPlace()
        while page := await self._parts.store.events(self._tenant_id, namespace_id, after, self._parts.rules.page):
            self._parts.faults.reach("rescan.read")
            for session_id, stored in groupby(page, key=lambda one: one.session_id):
                hit = await asyncio.to_thread(self._hit_events, list(stored))
                if hit and not await self._only_counted(EVENTS, [found for _, found in hit]):
                    await self._rewrite(namespace_id, session_id, [one for one, _ in hit], ())
            await self._step(len(page))
            after = SessionPlace(page[-1].session_id, page[-1].event.sequence)

    async def _memories(self, namespace_id: UUID) -> None:
        after = _NIL
        while ids := await self._parts.store.memory_ids(self._tenant_id, namespace_id, after, self._parts.rules.page):
            await self._rewrite_memories(namespace_id, ids)
            await self._step(len(ids))
            after = ids[-1]

    async def _rewrite_memories(self, namespace_id: UUID, ids: Collection[UUID]) -> None:
        stored = await self._parts.store.memories(self._tenant_id, namespace_id, ids)
        for one, found in await asyncio.to_thread(self._hit_memories, stored):
            if not await self._only_counted(MEMORIES, [found]):
                sessions = (one.memory.session_id, *(session_id for session_id, _ in one.memory.event_ids))
                await self._rewrite(namespace_id, next(filter(None, sessions), ""), (), [one.memory.memory_id])

    async def _rewrite(
        self, namespace_id: UUID, session_id: str, events: Sequence[StoredEvent], memory_ids: Collection[UUID]
    ) -> None:
        """Rewrite events, or a memory, with all that was made of them: those may hold a value that is recognised only
        where it was said. What has changed meanwhile is found by the next pass."""
        store, tenant_id = self._parts.store, self._tenant_id
        event_ids = [one.event.event_id for one in events]
        related = await store.related(tenant_id, namespace_id, event_ids, memory_ids)
        memories = await store.memories(tenant_id, namespace_id, related)
        cold = [one.memory.memory_id for one in memories if one.memory.tier is Tier.COLD]
        if cold:
            await self._bring_back(namespace_id, cold)
            memories = await store.memories(tenant_id, namespace_id, related)
        group = TextGroup(session_id, tuple(events), tuple(memories))
        draft = await asyncio.to_thread(
            GroupDraft,
            self._parts.redaction,
            self._policy,
            self._parts.hasher,
            self._parts.bands,
            Scope(tenant_id, namespace_id, ""),
            group,
        )
        if draft.counts and await store.rewrite(tenant_id, namespace_id, self._operation_id, group, draft):
            self._parts.faults.reach("rescan.rewritten")
            for what, count in draft.counts.items():
                self._parts.on_rewritten(what, count)

    async def _bring_back(self, namespace_id: UUID, ids: Sequence[UUID]) -> None:
        await self._parts.rehydrator.rehydrate(self._tenant_id, namespace_id, ids)
        self._were_cold[namespace_id].update(ids)
        self._parts.faults.reach("rescan.brought_back")

    async def _cold(self, namespace_id: UUID) -> None:
        rules = self._parts.rules
        for segment in await self._parts.tiers.segments(self._tenant_id, namespace_id):
            rows = await self._parts.segments.read(segment)
            found = await asyncio.to_thread(self._hit_rows, rows)
            # Rows to which nothing points any more go with the segment, whatever they say.
            live = [rows[at].memory_id for at in sorted(found) if at not in segment.dead]
            if found and await self._only_counted(SEGMENTS, list(found.values())):
                continue
            if live:
                await self._note({SEGMENTS: len(live)})
            for first in range(0, len(live), rules.page):
                part = live[first : first + rules.page]
                await self._bring_back(namespace_id, part)
                await self._rewrite_memories(namespace_id, part)
                await self._make_units()
        if not self._dry_run:
            await self._settle_cold(namespace_id)

    async def _settle_cold(self, namespace_id: UUID) -> None:
        """Send what was brought back to where it was, free the segments of what they held of it, and delete what moves
        that died have left."""
        parts, ids = self._parts, sorted(self._were_cold.pop(namespace_id, ()))
        lease = await patient_lease(parts.tiers, self._tenant_id, namespace_id, length=parts.rules.lease)
        try:
            for first in range(0, len(ids), parts.rules.page):
                part, now = ids[first : first + parts.rules.page], parts.clock.now()
                await parts.tiers.make_warm(lease, part, cutoff=None, floor=_EVERY_PRIORITY, now=now)
            await parts.tiers.renew(lease, length=parts.rules.lease)
            await parts.moves.make_cold(lease, ids, lambda _count: None)
            parts.faults.reach("rescan.made_cold")
            await parts.tiers.renew(lease, length=parts.rules.lease)
            await parts.moves.free(lease)
            parts.faults.reach("rescan.segments_freed")
            self.found += await parts.moves.sweep_orphans(lease, of_any_age=True)
        finally:
            await parts.tiers.release(lease, swept=False)

    async def _plain(self, kind: str) -> None:
        after = _NIL
        while page := await self._parts.store.plain_texts(self._tenant_id, kind, after, self._parts.rules.page):
            changed, counts = await asyncio.to_thread(self._hit_plain, kind, page)
            if changed and self._dry_run:
                await self._note(counts)
            elif changed:
                await self._parts.store.rewrite_plain(self._tenant_id, self._operation_id, kind, changed, counts)
            self.found += len(changed)
            await self._step(len(page))
            after = page[-1].row_id

    async def _originals(self) -> None:
        """Drop what is sealed, where the policy does not have it kept."""
        if self._policy.vault:
            return
        limit = self._parts.rules.page
        while dropped := await self._parts.store.drop_originals(self._tenant_id, self._operation_id, limit=limit):
            self.found += dropped

    async def _volatile(self) -> None:
        """Drop turns from working memory, which the log fills again, and answers that were made of what was stored."""
        working, counts = self._parts.working, Counter[str]()
        for key in await working.keys(self._tenant_id):
            turns = [StoredEvent("", event) for event in await working.events(key)]
            if await asyncio.to_thread(self._hit_events, turns):
                await working.drop(key)
                counts[WORKING_MEMORY] += 1
        self.found += counts[WORKING_MEMORY]
        counts[ANSWERS] = await self._parts.answers.erase_answers(self._tenant_id)
        if +counts:
            await self._note(+counts)

    async def _make_units(self) -> None:
        """Make anew what rewritten texts are found by."""
        parts, tenant_id = self._parts, self._tenant_id
        if self._dry_run:
            return
        while batch := await parts.store.stale(tenant_id, self._operation_id, limit=parts.rules.units):
            ordinal = (await parts.generations.generations(tenant_id)).current
            embedder = await parts.embedders.of(await parts.generations.generation_id(ordinal))
            texts = await parts.generations.texts(tenant_id, batch.namespace_id, batch.units)
            fresh = await parts.vectors.fresh(embedder, parts.hasher, batch.namespace_id, batch.units, texts)
            await parts.store.replace(tenant_id, self._operation_id, ordinal, batch, fresh)
            parts.faults.reach("rescan.units_made")

    def _hit_events(self, stored: Sequence[StoredEvent]) -> list[tuple[StoredEvent, tuple[str, ...]]]:
        hit = []
        for one in stored:
            redaction = self._redaction()
            redacted_event(one.event, redaction, "event")
            if redaction.found:
                hit.append((one, redaction.found))
        return hit

    def _hit_memories(self, stored: Sequence[StoredMemory]) -> list[tuple[StoredMemory, tuple[str, ...]]]:
        hit = []
        for one in stored:
            redaction = self._redaction()
            if redacted_stored_memory(one.memory, redaction) != one.memory:
                hit.append((one, redaction.found))
        return hit

    def _hit_rows(self, rows: Sequence[ColdMemory]) -> dict[int, tuple[str, ...]]:
        found = {}
        for at, row in enumerate(rows):
            redaction = self._redaction()
            redaction.text(row.content)
            redaction.tree(json.loads(row.metadata), "metadata")
            for entity in json.loads(row.entities):
                redaction.text(entity["text"])
                redaction.text(entity["canonical"])
            if redaction.found:
                found[at] = redaction.found
        return found

    def _hit_plain(self, kind: str, page: Sequence[PlainText]) -> tuple[list[PlainText], Counter[str]]:
        changed, counts = [], Counter[str]()
        for text in page:
            redaction = self._redaction()
            tree = redaction.tree(text.tree, kind)
            if redaction.found:
                changed.append(replace(text, tree=tree))
                counts.update([PLAIN[kind], *redaction.found])
        return changed, counts

    def _redaction(self) -> Redaction:
        return Redaction(self._parts.redaction.redactor, self._policy.categories)

    async def _step(self, read: int) -> None:
        await self._make_units()
        await self._parts.operations.progress(self._tenant_id, self._operation_id, read, {})

    async def _only_counted(self, place: str, found: Sequence[tuple[str, ...]]) -> bool:
        """Count texts that the policy takes something out of; return whether that is all there is to do."""
        self.found += len(found)
        if self._dry_run:
            await self._note(Counter([*[place] * len(found), *(category for one in found for category in one)]))
        return self._dry_run

    async def _note(self, counts: Mapping[str, int]) -> None:
        await self._parts.operations.progress(self._tenant_id, self._operation_id, 0, counts)
