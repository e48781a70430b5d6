"""The facts of a batch of turns, with the units by which they are found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.capture import CaptureDecision, origin_of, trust_of
from rearview.domain.event import CaptureOutcome, Event, EventRole
from rearview.domain.extraction import TurnReading
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.memory import Memory, MemoryType, Origin
from rearview.domain.principal import Scope
from rearview.domain.search_unit import FULL_LENGTH, UnitFlag, language_flags, said_flags
from rearview.domain.turn_text import memory_unit_text
from rearview.domain.unit_projection import KeywordStatistics, SearchUnit, UnitProjection, indexed_terms
from rearview.ports.analyzer import Analysis
from rearview.ports.embedder import Embedder
from rearview.ports.fact_words import StatingTurn
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.session_index import PendingEvents
from rearview.ports.stated_facts import SourceEvent, StatedFact
from rearview.ports.turn_reading import Languages
from rearview.writer.facts.read_statements import StatementReader
from rearview.writer.facts.stated_facts import DraftedFact, FactDrafter, Source, adopter, as_adopted

ReadTurn = tuple[Event, Analysis, CaptureDecision]


class FactMaker:
    """Reads statements, and makes them findable."""

    def __init__(
        self,
        statements: StatementReader,
        drafter: FactDrafter,
        embedder: Embedder,
        hasher: KeywordHasher,
        languages: Languages,
    ) -> None:
        self._statements = statements
        self._drafter = drafter
        self._embedder = embedder
        self._hasher = hasher
        self._languages = languages

    async def read(
        self, tenant_id: UUID, events: Sequence[Event], earlier: Sequence[Event]
    ) -> Mapping[UUID, TurnReading]:
        """Return the readings of those turns that state something; `earlier` turns are context.

        Raises:
            ModelUnavailable: a model was to read and could not.
        """
        return await self._statements.read(tenant_id, events, earlier) if events else {}

    async def of_turns(
        self,
        pending: PendingEvents,
        read: Sequence[ReadTurn],
        readings: Mapping[UUID, TurnReading],
        turn_memories: Mapping[UUID, Memory],
        statistics: KeywordStatistics,
        now: datetime,
    ) -> tuple[StatedFact, ...]:
        """Return the statements of turns in order. `turn_memories` are the turns' own memories, by event.

        Raises:
            ModelUnavailable: the embedder cannot answer.
        """
        session = pending.session
        drafted: list[tuple[DraftedFact, SourceEvent, bool]] = []
        analyses: dict[UUID, Analysis] = {}
        for event, analysis, decision in read:
            reading = readings.get(event.event_id)
            if reading is None:
                continue
            source = _source(event, analysis, session.session_id)
            drafts = self._drafter.drafts(source, reading, now)
            turn_memory = turn_memories.get(event.event_id)
            adopted = adopter(drafts, decision.type or MemoryType.EPISODE) if turn_memory else None
            for draft in drafts:
                analyses[event.event_id] = analysis
                stands_for_turn = turn_memory is not None and draft is adopted
                one = as_adopted(draft, turn_memory) if turn_memory is not None and stands_for_turn else draft
                drafted.append((one, SourceEvent(session.session_id, event.event_id, event.sequence), stands_for_turn))
        found = [one for one, _, adopts in drafted if not (one.ends or adopts)]
        units = await self._units(
            session.namespace_id, [(one, analyses[one.value.source_id]) for one in found], statistics
        )
        return tuple(
            _stated(one, event, units.get(one.memory.memory_id), adopts=adopts) for one, event, adopts in drafted
        )

    async def of_memory(
        self, scope: Scope, memory: Memory, analysis: Analysis, now: datetime
    ) -> tuple[StatedFact, ...]:
        """Return what a text says that was to be remembered: the text stays as it is, its facts are beside it.

        A text that was remembered as a fact and states one is that fact itself.

        Raises:
            ModelUnavailable: a model was to read or embed and could not.
        """
        drafts = await self._of_text(scope, memory, analysis, now)
        adopted = adopter(drafts, memory.type) if len(drafts) == 1 else None
        drafts = [as_adopted(draft, memory) if draft is adopted else draft for draft in drafts]
        # An adopted one has a unit, too: should the same words be known already, it becomes a memory beside them.
        found = [(draft, analysis) for draft in drafts if not draft.ends]
        units = await self._units(scope.namespace_id, found, KeywordStatistics())
        return tuple(
            _stated(draft, None, units.get(draft.memory.memory_id), adopts=adopted is not None) for draft in drafts
        )

    async def of_new_wording(
        self, scope: Scope, memory: Memory, analysis: Analysis, now: datetime
    ) -> StatedFact | None:
        """Return what a fact's new text states of the same attribute, or else the one thing that it states.

        Raises:
            ModelUnavailable: a model was to read and could not.
        """
        drafts = [draft for draft in await self._of_text(scope, memory, analysis, now) if not draft.ends]
        fact = memory.fact
        same = (draft for draft in drafts if fact and _attribute_of(draft) == (fact.subject, fact.attribute))
        chosen = next(same, drafts[0] if len(drafts) == 1 else None)
        return None if chosen is None else _stated(as_adopted(chosen, memory), None, None, adopts=True)

    async def of_same_claim(
        self,
        scope: Scope,
        fact: Memory,
        said: StatingTurn | Memory,
        analysis: Analysis,
        now: datetime,
    ) -> StatedFact | None:
        """Return a fact as a turn or a memory states it, which stated it before; None where it does not any more.

        Raises:
            ModelUnavailable: a model was to read or embed and could not.
        """
        if isinstance(said, Memory):
            drafts = await self._of_text(scope, said, analysis, now)
        else:
            readings = await self.read(scope.tenant_id, [said.turn], said.earlier)
            reading = readings.get(said.turn.event_id)
            source = _source(said.turn, analysis, said.session_id)
            drafts = self._drafter.drafts(source, reading, now) if reading else []
        same = next((draft for draft in drafts if not draft.ends and _claim_of(draft.memory) == _claim_of(fact)), None)
        if same is None:
            return None
        draft = replace(
            same,
            memory=replace(same.memory, memory_id=fact.memory_id, type=fact.type),
            value=replace(same.value, memory_id=fact.memory_id),
        )
        units = await self._units(scope.namespace_id, [(draft, analysis)], KeywordStatistics())
        return _stated(draft, None, units[fact.memory_id])

    async def _of_text(self, scope: Scope, memory: Memory, analysis: Analysis, now: datetime) -> list[DraftedFact]:
        event = Event(memory.memory_id, EventRole.USER, memory.content, memory.occurred_at)
        reading = (await self._statements.read(scope.tenant_id, [event])).get(event.event_id)
        if reading is None:
            return []
        source = Source(
            source_id=memory.memory_id,
            text=memory.content,
            occurred_at=memory.occurred_at,
            origin=memory.origin,
            trust=memory.trust,
            analysis=analysis,
            session_id=memory.session_id,
            redactions=memory.redactions,
            valid_from=memory.valid_from,
        )
        return self._drafter.drafts(source, reading, now)

    async def _units(
        self, namespace_id: UUID, found: Sequence[tuple[DraftedFact, Analysis]], statistics: KeywordStatistics
    ) -> dict[UUID, tuple[SearchUnit, KeywordBag]]:
        if not found:
            return {}
        # The date is in the language of the fact's own words, which is all that later makers of this text know of it.
        memories = [draft.memory for draft, _ in found]
        texts = [
            memory_unit_text(memory.content, memory.occurred_at, self._languages(memory.content)) for memory in memories
        ]
        plain = self._embedder.generation.centre(await self._embedder.embed_passages(texts))
        units = {}
        for at, (draft, analysis) in enumerate(found):
            bag = KeywordBag.of(self._hasher.keywords(namespace_id, texts[at]))
            unit = fact_unit(draft.memory, plain[at], bag, statistics, resolvable_time=bool(analysis.time_ranges))
            units[draft.memory.memory_id] = (unit, bag)
        return units


def fact_unit(
    memory: Memory,
    plain: NDArray[np.float32],
    bag: KeywordBag,
    statistics: KeywordStatistics,
    *,
    resolvable_time: bool = False,
) -> SearchUnit:
    """Return the unit of a distilled memory: its plain vector (d,) and its own keywords, no window."""
    flags = language_flags(memory.languages) | said_flags(FULL_LENGTH)
    if resolvable_time:
        flags |= UnitFlag.RESOLVABLE_TIME
    if memory.origin is Origin.USER:
        flags |= UnitFlag.ROLE_USER
    projection = UnitProjection(memory.memory_id, plain, indexed_terms(bag, statistics), closed=True)
    return SearchUnit(memory.memory_id, memory.occurred_at, memory.type, projection, flags=flags)


def keeping_what_states(read: Sequence[ReadTurn], readings: Mapping[UUID, TurnReading]) -> list[ReadTurn]:
    """Return the turns with none dropped that states something: a name is worth keeping, however short."""
    return [
        (event, analysis, _kept(decision) if event.event_id in readings else decision)
        for event, analysis, decision in read
    ]


def _kept(decision: CaptureDecision) -> CaptureDecision:
    if decision.outcome is not CaptureOutcome.DROPPED:
        return decision
    return replace(
        decision, outcome=CaptureOutcome.KEPT, type=MemoryType.EPISODE, reason=f"{decision.reason}, but states a fact"
    )


def _attribute_of(draft: DraftedFact) -> tuple[str, str]:
    fact = draft.memory.fact
    return (fact.subject, fact.attribute) if fact else ("", "")


def _claim_of(memory: Memory) -> tuple[str, str, str, bool] | None:
    fact = memory.fact
    return (fact.subject, fact.attribute, fact.value_key, fact.denied) if fact else None


def _source(event: Event, analysis: Analysis, session_id: str) -> Source:
    is_tool = origin_of(event) is Origin.TOOL and event.tool_call is not None
    return Source(
        source_id=event.event_id,
        text=event.tool_call.result if is_tool and event.tool_call else event.content,
        occurred_at=event.occurred_at,
        origin=origin_of(event),
        trust=trust_of(event),
        analysis=analysis,
        session_id=session_id,
        speaker="" if is_tool else event.speaker,
        sequence=event.sequence,
        redactions=event.redactions,
    )


def _stated(
    draft: DraftedFact,
    event: SourceEvent | None,
    found_by: tuple[SearchUnit, KeywordBag] | None,
    *,
    adopts: bool = False,
) -> StatedFact:
    unit, bag = found_by or (None, None)
    return StatedFact(draft.value, draft.memory, event, unit, bag, adopts)
