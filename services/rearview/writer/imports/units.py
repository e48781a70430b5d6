"""What imported memories are found by: vectors carried where they are of the model in use and of texts that did not
change, made anew otherwise; keywords always under the hashes of this namespace."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.cold import ColdUnit
from rearview.domain.event import Event
from rearview.domain.exchange.records import ExportedMemory, ExportedUnit
from rearview.domain.keyword_bag import MAX_TERMS, KeywordBag, window_bag
from rearview.domain.memory import Memory
from rearview.domain.principal import Scope
from rearview.domain.search_unit import UnitFlag
from rearview.domain.stored_vector import stored_vector
from rearview.domain.turn_text import memory_unit_text, unit_text
from rearview.domain.unit_projection import KeywordStatistics, indexed_terms
from rearview.ports.forgetting import FreshUnit, StaleTurn
from rearview.ports.importing import ImportedMemory, ImportStore
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.turn_reading import Languages
from rearview.writer.index_plan import with_bags
from rearview.writer.remember import TextReader, whole_flags
from rearview.writer.window_reader import WindowReader


@dataclass(frozen=True, slots=True, eq=False)
class UnitParts:
    """What units are made with."""

    reader: TextReader
    windows: WindowReader
    hasher: KeywordHasher
    languages: Languages
    dimension: int


@dataclass(frozen=True, slots=True)
class Changed:
    """Of what the vectors of an export hold no longer: sessions, and memories whose text was changed."""

    sessions: AbstractSet[str]
    memories: AbstractSet[UUID]


class UnitMaker:
    """Makes the units of one batch of memories, under the ids that they have here."""

    def __init__(
        self,
        parts: UnitParts,
        store: ImportStore,
        scope: Scope,
        source_namespace_id: UUID | None,
        turns: Mapping[UUID, StaleTurn],
    ) -> None:
        """`turns` are the turns that are there, in their windows, by unit."""
        self._parts = parts
        self._store = store
        self._scope = scope
        self._source = source_namespace_id or scope.namespace_id
        self._turns = turns
        self._counts: KeywordStatistics | None = None

    async def made(self, records: Sequence[ExportedMemory], changed: Changed) -> list[ImportedMemory]:
        """Return memories with their units, in order. One of which no unit has a text any more is found as a whole.

        Raises:
            ModelUnavailable: nothing was stored; repeat the call.
        """
        carried = {record.memory.memory_id for record in records if carries(self._parts, record, changed)}
        texts = {record.memory.memory_id: self._with_texts(record) for record in records}
        whole = [
            record
            for record in records
            if not texts[record.memory.memory_id]
            or (record.memory.memory_id not in carried and not self._is_of_turns(record))
        ]
        found_as_a_whole = await self._whole(whole)
        others = [record for record in records if record.memory.memory_id not in found_as_a_whole]
        anew = [
            self._turns[unit.unit_id]
            for record in others
            if record.memory.memory_id not in carried
            for unit in texts[record.memory.memory_id]
            if unit.unit_id in self._turns
        ]
        fresh = {unit.unit_id: unit for unit in await self._parts.windows.units(self._scope.namespace_id, anew)}
        done = {
            record.memory.memory_id: await self._of_units(record, texts[record.memory.memory_id], fresh)
            for record in others
        }
        return [(found_as_a_whole | done)[record.memory.memory_id] for record in records]

    def _with_texts(self, record: ExportedMemory) -> list[ExportedUnit]:
        own = record.memory.memory_id
        return [unit for unit in record.units if unit.unit_id == own or unit.unit_id in self._turns]

    def _is_of_turns(self, record: ExportedMemory) -> bool:
        return any(unit.unit_id in self._turns for unit in record.units)

    async def _of_units(
        self, record: ExportedMemory, units: Sequence[ExportedUnit], fresh: Mapping[UUID, FreshUnit]
    ) -> ImportedMemory:
        placed, bags = [], []
        for unit in units:
            turn, made = self._turns.get(unit.unit_id), fresh.get(unit.unit_id)
            if made is not None:
                bag, vector, terms = made.bag, stored_vector(made.vector), None
            else:
                bag, new_terms = self._keywords(record.memory, turn)
                vector, terms = np.frombuffer(unit.vector, "<f2").astype(np.float16), _rehashed(unit, new_terms)
            placed.append(
                _unit(
                    record.memory,
                    unit.unit_id,
                    vector,
                    await self._indexed(bag) if terms is None else terms,
                    occurred_at=unit.occurred_at,
                    speaker=self._parts.hasher.speaker(self._scope.namespace_id, turn.turn.speaker) if turn else 0,
                    flags=unit.flags & ~int(UnitFlag.UNCOUNTED),
                )
            )
            bags.append(bag)
        return ImportedMemory(record, tuple(placed), tuple(bags))

    def _keywords(self, memory: Memory, turn: StaleTurn | None) -> tuple[KeywordBag, dict[int, int]]:
        """Return a unit's bag, and the hashes of its terms here by those that they had."""
        terms: dict[int, int] = {}

        def keywords(text: str) -> tuple[int, ...]:
            own = self._parts.hasher.keywords(self._scope.namespace_id, text)
            before = own
            if self._source != self._scope.namespace_id:
                before = self._parts.hasher.keywords(self._source, text)
            terms.update(zip(before, own, strict=True))
            return own

        if turn is None:
            text = memory_unit_text(memory.content, memory.occurred_at, self._parts.languages(memory.content))
            return KeywordBag.of(keywords(text)), terms

        def of(event: Event) -> tuple[int, ...]:
            return keywords(unit_text(event, self._parts.languages(event.searchable_text)))

        return window_bag(of(turn.turn), [of(one) for one in turn.before], [of(one) for one in turn.after]), terms

    async def _indexed(self, bag: KeywordBag) -> dict[int, float]:
        if len(bag.weights) > MAX_TERMS:
            counts = await self._store.statistics(self._scope, tuple(bag.weights))
        else:  # no term is left out, so the namespace's size is all that counts, and one reading does for the batch
            counts = self._counts = self._counts or await self._store.statistics(self._scope, ())
        return indexed_terms(bag, with_bags(counts, [bag]))

    async def _whole(self, records: Sequence[ExportedMemory]) -> dict[UUID, ImportedMemory]:
        if not records:
            return {}
        memories = [record.memory for record in records]
        read = await self._parts.reader.read(
            self._scope, [memory.content for memory in memories], [memory.occurred_at for memory in memories]
        )
        made = {}
        for record, text in zip(records, read, strict=True):
            memory, bag = record.memory, KeywordBag.of(text.keywords)
            if not record.units:  # of elsewhere, where nothing was read in it
                memory = replace(
                    memory,
                    entities=memory.entities or self._parts.reader.entities((), text.analysis),
                    intent=text.analysis.intent,
                    sentiment=text.analysis.sentiment,
                    languages=text.analysis.languages,
                )
            unit = _unit(
                memory,
                memory.memory_id,
                stored_vector(text.plain),
                await self._indexed(bag),
                occurred_at=memory.occurred_at,
                speaker=0,
                flags=int(whole_flags(memory, text.analysis)),
            )
            made[memory.memory_id] = ImportedMemory(replace(record, memory=memory), (unit,), (bag,))
        return made


def carries(parts: UnitParts, record: ExportedMemory, changed: Changed) -> bool:
    """Whether the vectors of a memory are taken as they are."""
    memory = record.memory
    if not record.units or memory.generation_id != parts.reader.generation_id:
        return False
    touched = memory.memory_id in changed.memories or any(link.session_id in changed.sessions for link in record.links)
    return not touched and all(len(unit.vector) == 2 * parts.dimension for unit in record.units)


def _rehashed(unit: ExportedUnit, terms: Mapping[int, int]) -> dict[int, float] | None:
    """Return a unit's terms under the hashes that they have here; None when one of them is of no word of its text."""
    if not unit.terms or any(term not in terms for term in unit.terms):
        return None
    return {terms[term]: weight for term, weight in zip(unit.terms, unit.weights, strict=True)}


def _unit(
    memory: Memory,
    unit_id: UUID,
    vector: NDArray[np.float16],
    terms: Mapping[int, float],
    *,
    occurred_at: datetime,
    speaker: int,
    flags: int,
) -> ColdUnit:
    ordered = sorted(terms.items())
    return ColdUnit(
        unit_id=unit_id,
        occurred_at=occurred_at,
        speaker=speaker,
        flags=flags,
        type=int(memory.type),
        embedding=vector,
        terms=np.array([term for term, _ in ordered], np.int32),
        weights=np.array([weight for _, weight in ordered], np.float32),
    )
