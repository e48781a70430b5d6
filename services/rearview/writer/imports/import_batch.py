"""From some lines of an export to what is stored of them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from rearview.domain.episode_text import rewritten
from rearview.domain.errors import InvalidFields, invalid_field
from rearview.domain.exchange.records import ExportedEvent, ExportedMemory, Remapping
from rearview.domain.keyword_bag import MAX_OWN_TOKENS
from rearview.domain.principal import Scope
from rearview.ports.forgetting import StaleTurn
from rearview.ports.importing import ImportedEvent, ImportedMemory, ImportStore, Known
from rearview.redaction.texts import Redaction, RedactionParts
from rearview.writer.imports.forgotten import left_of
from rearview.writer.imports.redaction import imported_event, imported_memory
from rearview.writer.imports.remapping import ids_of, remapped_event, remapped_memory
from rearview.writer.imports.tally import Tally
from rearview.writer.imports.units import Changed, UnitMaker, UnitParts, carries

R = TypeVar("R", ExportedEvent, ExportedMemory)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A record of an export with the number of its line."""

    number: int
    record: ExportedEvent | ExportedMemory


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What is to be stored of some lines, what became of the others, and the sessions that are touched by now."""

    ids: Mapping[UUID, UUID]
    known: Known
    tally: Tally
    touched: frozenset[str]
    events: tuple[ImportedEvent, ...] = ()
    memories: tuple[ImportedMemory, ...] = ()


class BatchMaker:
    """Prepares batches of one import."""

    def __init__(
        self,
        store: ImportStore,
        parts: UnitParts,
        redaction: RedactionParts,
        scope: Scope,
        source_namespace_id: UUID | None,
        *,
        dry_run: bool,
    ) -> None:
        self._store = store
        self._parts = parts
        self._redaction = redaction
        self._scope = scope
        self._source = source_namespace_id
        self._remapping = Remapping(source_namespace_id, scope.namespace_id)
        self._dry_run = dry_run

    async def prepared(self, lines: Sequence[Numbered], touched: frozenset[str], now: datetime) -> Prepared:
        """Return what is to be stored of some lines, all events or all memories.

        Raises:
            ModelUnavailable, Unavailable: nothing was stored; repeat the call.
        """
        ids = ids_of((line.record for line in lines), self._remapping)
        known = await self._store.known(self._scope, self._source, ids)
        prepared = Prepared(ids, known, Tally(), touched)
        policy = await self._redaction.policies.redaction(self._scope.tenant_id)

        def redaction() -> Redaction:
            return Redaction(self._redaction.redactor, policy.categories)

        events = [(line.number, line.record) for line in lines if isinstance(line.record, ExportedEvent)]
        memories = [(line.number, line.record) for line in lines if isinstance(line.record, ExportedMemory)]
        if events:
            prepared = await self._events(prepared, events, redaction)
        if memories:
            prepared = await self._memories(prepared, memories, redaction, now)
        return prepared

    async def _events(
        self, prepared: Prepared, lines: Sequence[tuple[int, ExportedEvent]], redaction: Callable[[], Redaction]
    ) -> Prepared:
        tally, touched, fresh = prepared.tally, set(prepared.touched), []
        for number, record in lines:
            if record.event.event_id in prepared.known.forgotten:
                tally.refused_events += 1
                touched.add(record.session_id)
            elif prepared.ids[record.event.event_id] in prepared.known.there:
                tally.unchanged_events += 1
            else:
                fresh.append((number, record))
        taken = set(await self._store.taken(self._scope, [_place(record) for _, record in fresh]))
        stored = []
        for number, record in fresh:
            if _place(record) in taken:
                tally.wrong(number, invalid_field("sequence", "the session holds another turn in this place already"))
                touched.add(record.session_id)
                continue
            checked = await _redacted(number, tally, imported_event, record, redaction())
            if checked is None or checked[1]:
                touched.add(record.session_id)
            if checked is not None:
                taken.add(_place(record))
                stored.append(remapped_event(checked[0], prepared.ids))
        tally.stored_events += len(stored)
        events = tuple(await asyncio.to_thread(lambda: [self._imported(record) for record in stored]))
        return replace(prepared, events=events, touched=frozenset(touched))

    def _imported(self, record: ExportedEvent) -> ImportedEvent:
        namespace_id, event = self._scope.namespace_id, record.event
        keywords = self._parts.hasher.keywords(namespace_id, f"{event.speaker} {event.searchable_text}")
        speaker = self._parts.hasher.speaker(namespace_id, event.speaker)
        return ImportedEvent(record, keywords[:MAX_OWN_TOKENS], speaker)

    async def _memories(
        self,
        prepared: Prepared,
        lines: Sequence[tuple[int, ExportedMemory]],
        redaction: Callable[[], Redaction],
        now: datetime,
    ) -> Prepared:
        tally, known, kept, anew, changed = prepared.tally, prepared.known, [], set(), set()
        seen = set(known.there)
        for number, record in lines:
            memory = record.memory
            own_id = prepared.ids[memory.memory_id]
            left, rewrite = left_of(record, known.forgotten.__contains__)
            if left is None:
                tally.refused += 1
            elif own_id in seen:
                tally.unchanged += 1
            elif memory.expires_at is not None and memory.expires_at <= now and not memory.pinned:
                tally.expired += 1
            elif (checked := await _redacted(number, tally, imported_memory, left, redaction())) is not None:
                seen.add(own_id)
                if checked[1]:
                    changed.add(own_id)
                if rewrite:
                    anew.add(own_id)
                kept.append(remapped_memory(checked[0], prepared.ids))
        touched = Changed(prepared.touched, changed | anew)
        if self._dry_run:
            tally.stored += len(kept)
            for record in kept:
                self._count_vectors(tally, record, len(record.units) or 1, touched)
            return prepared
        turns = await self._turns(kept)
        kept = [_anew(record, turns, now) if record.memory.memory_id in anew else record for record in kept]
        tally.refused += sum(not record.memory.content for record in kept)
        kept = [record for record in kept if record.memory.content]
        made = await UnitMaker(self._parts, self._store, self._scope, self._source, turns).made(kept, touched)
        tally.stored += len(made)
        for before, one in zip(kept, made, strict=True):
            self._count_vectors(tally, before, len(one.units), touched)
        return replace(prepared, memories=tuple(made))

    def _count_vectors(self, tally: Tally, record: ExportedMemory, units: int, changed: Changed) -> None:
        if carries(self._parts, record, changed):
            tally.carried_vectors += units
        else:
            tally.made_vectors += units

    async def _turns(self, records: Sequence[ExportedMemory]) -> dict[UUID, StaleTurn]:
        ids = {unit.unit_id for record in records for unit in record.units if unit.unit_id != record.memory.memory_id}
        ids |= {link.event_id for record in records for link in record.links if link.repeats is None}
        turns = await self._store.windows(self._scope, ids) if ids else ()
        return {turn.turn.event_id: turn for turn in turns}


def _anew(record: ExportedMemory, turns: Mapping[UUID, StaleTurn], now: datetime) -> ExportedMemory:
    own = [turns[link.event_id].turn for link in record.links if link.repeats is None and link.event_id in turns]
    return replace(record, memory=rewritten(record.memory, own, now))


async def _redacted(
    number: int, tally: Tally, redact: Callable[[R, Redaction], R], record: R, redaction: Redaction
) -> tuple[R, bool] | None:
    """Return the record and whether anything was replaced in it; None when it cannot be redacted."""
    try:
        redacted = await asyncio.to_thread(redact, record, redaction)
    except InvalidFields as error:
        tally.wrong(number, error)
        return None
    tally.redacted += bool(redaction.found)
    return redacted, bool(redaction.found)


def _place(record: ExportedEvent) -> tuple[str, int]:
    return record.session_id, record.event.sequence
