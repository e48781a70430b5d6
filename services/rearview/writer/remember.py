"""Remembering by request: redacted, analysed, embedded and stored before the answer."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.capture import CaptureDecision
from rearview.domain.errors import Conflict, NotFound, RearviewError
from rearview.domain.event import CaptureOutcome, Event, EventRole
from rearview.domain.ids import new_id
from rearview.domain.keyword_bag import MAX_TERMS, KeywordBag
from rearview.domain.memory import Memory, Origin, Tier, Trust
from rearview.domain.principal import Scope
from rearview.domain.search_unit import FULL_LENGTH, UnitFlag, language_flags, said_flags
from rearview.domain.text import Entity, EntityType
from rearview.domain.turn_text import memory_unit_text
from rearview.domain.unit_projection import SearchUnit, UnitProjection, indexed_terms
from rearview.domain.writing import Remember, Remembered
from rearview.ports.analyzer import Analysis, Analyzer
from rearview.ports.clock import Clock
from rearview.ports.embedder import Embedder
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.known_statements import Doubted, Watch
from rearview.ports.memory_store import MemoryStore, NewMemory
from rearview.ports.placeholders import PlaceholderNumbers
from rearview.ports.tiering import Rehydrator
from rearview.ports.turn_reading import Canonical
from rearview.redaction.texts import RedactionParts
from rearview.writer.draft_memory import MemoryDraft, draft_memory
from rearview.writer.episodes import KeptTurn, merged_entities
from rearview.writer.facts.turn_facts import FactMaker
from rearview.writer.index_plan import with_bags
from rearview.writer.merge_schedule import MergeSchedule
from rearview.writer.novelty import NoveltyGate

_MOST_ATTEMPTS = 5
_MOST_LESS = 16
"""So many memories that say the same, but for a shorter time or a session of their own, are passed over for one that
lasts."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadText:
    """A text by which a memory is found: what it contains, its (d,) plain vector and its keywords."""

    analysis: Analysis
    plain: NDArray[np.float32]
    keywords: tuple[int, ...]


class TextReader:
    """Reads texts of memories: analysis, vector, keywords."""

    def __init__(self, embedder: Embedder, analyzer: Analyzer, hasher: KeywordHasher, canonical: Canonical) -> None:
        self._embedder = embedder
        self._analyzer = analyzer
        self._hasher = hasher
        self._canonical = canonical

    @property
    def generation_id(self) -> str:
        """The generation of the vectors."""
        return self._embedder.generation.generation_id

    async def read(self, scope: Scope, contents: Sequence[str], times: Sequence[datetime]) -> list[ReadText]:
        """Read texts together, which costs less than one by one.

        Raises:
            ModelUnavailable: the embedder cannot answer now.
        """
        analyses = await asyncio.to_thread(
            self._analyzer.analyze_batch, contents, references=times, roles=["user"] * len(contents)
        )
        texts = [
            memory_unit_text(content, moment, analysis.languages)
            for content, moment, analysis in zip(contents, times, analyses, strict=True)
        ]
        plain = self._embedder.generation.centre(await self._embedder.embed_passages(texts))
        return [
            ReadText(analysis, plain[at], self._hasher.keywords(scope.namespace_id, texts[at]))
            for at, analysis in enumerate(analyses)
        ]

    def as_turn(self, memory: Memory, text: ReadText) -> KeptTurn:
        """Return a text that is to be remembered as the turn that it would be."""
        event = Event(memory.memory_id, EventRole.USER, memory.content, memory.occurred_at)
        decision = CaptureDecision(CaptureOutcome.KEPT, memory.type, 1.0, "asked for")
        topic = self._embedder.generation.corrected(text.plain[np.newaxis], [text.analysis.languages])[0]
        return KeptTurn(event, text.analysis, decision, text.plain, topic, text.keywords, 0, by_request=True)

    def entities(self, given: Sequence[str], analysis: Analysis) -> tuple[Entity, ...]:
        """Return the entities that a caller named, then those that were found."""
        named = self.named(given)
        known = {entity.canonical for entity in named}
        found = [entity for entity in analysis.entities if entity.canonical not in known]
        return merged_entities(named, found)

    def named(self, given: Sequence[str]) -> tuple[Entity, ...]:
        """Return the entities that a caller named."""
        return merged_entities((), [Entity(EntityType.OTHER, text, self._canonical(text), 0, 0) for text in given])


class MemoryKeeper:
    """The use cases of `Remember` and `BatchRemember`."""

    def __init__(
        self,
        store: MemoryStore,
        reader: TextReader,
        redaction: RedactionParts,
        numbers: PlaceholderNumbers,
        rehydrator: Rehydrator,
        merges: MergeSchedule,
        facts: FactMaker,
        novelty: NoveltyGate,
        clock: Clock,
    ) -> None:
        self._store = store
        self._reader = reader
        self._redaction = redaction
        self._numbers = numbers
        self._rehydrator = rehydrator
        self._merges = merges
        self._facts = facts
        self._novelty = novelty
        self._clock = clock

    async def remember(self, scope: Scope, command: Remember) -> Remembered:
        """Store a memory, or find that it is known, word for word or in others; recall finds it from here on.

        Raises:
            Conflict: others kept storing the like; repeat the request.
            InvalidFields: the metadata is nested too deep.
            RequestIdReused: the request id stands for another request.
            ModelUnavailable, Unavailable: nothing was stored, or it was and the answer got lost; repeat.
        """
        result = (await self.remember_all(scope, [command]))[0]
        if isinstance(result, RearviewError):
            raise result
        return result

    async def remember_all(self, scope: Scope, commands: Sequence[Remember]) -> list[Remembered | RearviewError]:
        """Store memories, each succeeding or failing by itself; results in order.

        Raises:
            ModelUnavailable: none could be embedded.
        """
        results: dict[int, Remembered | RearviewError] = {}
        drafts: dict[int, MemoryDraft] = {}
        policy = await self._redaction.policies.redaction(scope.tenant_id)
        for at, command in enumerate(commands):
            try:
                before = await self._store.remembered_before(scope, command.request) if command.request else None
                if before is not None:
                    results[at] = await self._at_hand(scope, before)
                else:
                    drafts[at] = await draft_memory(self._redaction, self._numbers, policy, scope, command)
            except RearviewError as error:
                results[at] = error
        if drafts:
            fresh = [draft.command for draft in drafts.values()]
            read = await self._reader.read(scope, [c.content for c in fresh], [c.occurred_at for c in fresh])
            for (at, draft), text in zip(drafts.items(), read, strict=True):
                try:
                    results[at] = await self._store_one(scope, draft, text)
                except RearviewError as error:
                    results[at] = error
        return [results[at] for at in range(len(commands))]

    async def _store_one(self, scope: Scope, draft: MemoryDraft, text: ReadText) -> Remembered:
        for _ in range(_MOST_ATTEMPTS):
            try:
                return await self._store_once(scope, draft, text)
            except Doubted:
                continue
        raise Conflict("others kept remembering the like; repeat the request", retry_after_seconds=0.5)

    async def _store_once(self, scope: Scope, draft: MemoryDraft, text: ReadText) -> Remembered:
        now = self._clock.now()
        command = draft.command
        memory = Memory(
            memory_id=new_id(),
            type=command.type,
            content=command.content,
            occurred_at=command.occurred_at,
            created_at=now,
            updated_at=now,
            origin=Origin.USER,
            trust=Trust.TRUSTED,
            priority=command.priority,
            pinned=command.pinned,
            labels=command.labels,
            metadata=command.metadata,
            entities=self._reader.entities(command.entities, text.analysis),
            intent=text.analysis.intent,
            sentiment=text.analysis.sentiment,
            valid_from=command.valid_from,
            expires_at=command.expires_at,
            session_id=command.session_id,
            languages=text.analysis.languages,
            generation_id=self._reader.generation_id,
            redactions=draft.categories,
        )
        says_same, watch = await self._known(scope, memory, text)
        new = await projected(self._store, scope, memory, text)
        if draft.original is not None and self._redaction.sealer is not None:
            sealed = self._redaction.sealer.seal(scope.tenant_id, memory.memory_id, draft.original)
            new = replace(new, original=sealed)
        facts = await self._facts.of_memory(scope, new.memory, text.analysis, now)
        added = 1 + len(facts)
        merge_at = self._merges.due(scope.tenant_id, scope.namespace_id, added, now)
        remembered = await self._store.remember(
            scope,
            new,
            request=command.request,
            now=now,
            merge_units_at=merge_at,
            facts=facts,
            says_same=says_same,
            watch=watch,
        )
        if remembered.memory.memory_id == memory.memory_id:
            self._merges.committed(scope.tenant_id, scope.namespace_id, added, merge_at, now)
        return await self._at_hand(scope, remembered)

    async def _known(self, scope: Scope, new: Memory, text: ReadText) -> tuple[UUID | None, Watch | None]:
        """Return the memory that says the same, if nothing that was asked for is lost without the new one."""
        turn = self._reader.as_turn(new, text)
        less: set[UUID] = set()
        while True:
            novelty = await self._novelty.part(scope.tenant_id, scope.namespace_id, [turn], without=less)
            found = novelty.repetitions.get(new.memory_id)
            if found is None or found.memory_id is None or len(less) == _MOST_LESS:
                return None, novelty.watch
            with suppress(NotFound):
                if _covers(await self._store.get(scope, found.memory_id), new):
                    return found.memory_id, None
            less.add(found.memory_id)

    async def _at_hand(self, scope: Scope, remembered: Remembered) -> Remembered:
        if remembered.memory.tier is not Tier.COLD:
            return remembered
        # Said again, a cold memory is in use again, and its text is not here.
        memory_id = remembered.memory.memory_id
        await self._rehydrator.rehydrate(scope.tenant_id, scope.namespace_id, [memory_id])
        return replace(remembered, memory=await self._store.get(scope, memory_id))


def _covers(known: Memory, new: Memory) -> bool:
    outlives = known.expires_at is None or (new.expires_at is not None and known.expires_at >= new.expires_at)
    return (
        outlives
        and known.session_id in ("", new.session_id)
        and known.valid_from == new.valid_from
        and new.given_day in (None, known.occurred_at.astimezone(UTC).date())
        and known.priority >= new.priority
        and known.pinned >= new.pinned
        and new.labels.items() <= known.labels.items()
        and all(key in known.metadata and known.metadata[key] == value for key, value in new.metadata.items())
    )


async def projected(store: MemoryStore, scope: Scope, memory: Memory, text: ReadText) -> NewMemory:
    """Return a memory with the unit by which it is found as a whole: plain vector, own keywords, no window."""
    bag = KeywordBag.of(text.keywords)
    terms = tuple(bag.weights) if len(bag.weights) > MAX_TERMS else ()
    statistics = with_bags(await store.statistics(scope.tenant_id, scope.namespace_id, terms), [bag])
    flags = whole_flags(memory, text.analysis)
    projection = UnitProjection(memory.memory_id, text.plain, indexed_terms(bag, statistics), closed=True)
    unit = SearchUnit(memory.memory_id, memory.occurred_at, memory.type, projection, flags=flags)
    return NewMemory(memory, unit, bag)


def whole_flags(memory: Memory, analysis: Analysis) -> UnitFlag:
    """Return the flags of the unit by which a memory is found as a whole."""
    # What was distilled says what it has to say, however short.
    flags = language_flags(analysis.languages) | said_flags(FULL_LENGTH)
    if analysis.time_ranges:
        flags |= UnitFlag.RESOLVABLE_TIME
    if memory.origin is Origin.USER:
        flags |= UnitFlag.ROLE_USER
    return flags
