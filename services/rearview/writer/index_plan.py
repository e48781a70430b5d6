"""What a batch of a session's turns becomes: segments, memories, windows. Pure; reads and writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np

from rearview.domain.capture import trust_of
from rearview.domain.context_window import OpenWindows, WindowedTurn, alone
from rearview.domain.event import Event, EventRole
from rearview.domain.generation import EmbeddingGeneration
from rearview.domain.ids import new_id
from rearview.domain.keyword_bag import KeywordBag, count_units
from rearview.domain.memory import Memory, MemoryType, Trust
from rearview.domain.search_unit import UnitFlag, language_flags, said_flags
from rearview.domain.segmentation import (
    LOOK_BACK,
    Boundary,
    OpenSegment,
    SegmentationRules,
    SegmentTurn,
    announces_topic,
    boundary_before,
)
from rearview.domain.turn_text import asks, is_question
from rearview.domain.unit_projection import KeywordStatistics, SearchUnit, UnitProjection, indexed_terms
from rearview.ports.session_index import CountedBags, MemoryLink, PendingEvents, Strengthened
from rearview.writer.episodes import KeptTurn, joined_by, memory_of_turn, overlapping
from rearview.writer.novelty import Repetition

MAX_OVERLAP_CHARACTERS = 1_500
"""A longer turn is not repeated at the head of the next part of a long segment, and no turn is cut."""


@dataclass(slots=True)
class IndexPlan:
    """Grows turn by turn; `finish` it once, then read it.

    Attributes:
        boundaries: why a segment began with a turn, by event.
        opened: the search units of new turns, without their projections, by unit.
        answers: turns that follow a question.
        windows: the last turns' windows.
        finished: turns whose windows are complete.
        strengthened: memories that turns said again, by memory.
        last_turn: the last turn of the open episode, where it is known.
    """

    pending: PendingEvents
    rules: SegmentationRules
    generation: EmbeddingGeneration
    now: datetime
    created: dict[UUID, Memory] = field(default_factory=dict)
    extended: Memory | None = None
    open_episode: Memory | None = None
    segment: OpenSegment | None = None
    links: list[MemoryLink] = field(default_factory=list)
    boundaries: dict[UUID, str] = field(default_factory=dict)
    opened: dict[UUID, tuple[KeptTurn, Memory]] = field(default_factory=dict)
    answers: set[UUID] = field(default_factory=set)
    windows: OpenWindows = field(default_factory=OpenWindows)
    finished: list[WindowedTurn] = field(default_factory=list)
    windows_closed: bool = True
    strengthened: dict[UUID, Strengthened] = field(default_factory=dict)
    last_turn: Event | None = None

    def __post_init__(self) -> None:
        self.windows = self.pending.windows
        self.windows_closed = self.pending.windows_closed
        if self.pending.episode:
            self.open_episode = self.pending.episode.memory
            self.segment = _segment_of(self.pending, self.generation)
            self.last_turn = self.pending.episode.last

    def add(self, turns: Sequence[KeptTurn]) -> None:
        """Take in kept turns, in order."""
        for at, turn in enumerate(turns):
            if turn.decision.type is MemoryType.EPISODE:
                following = next((t for t in turns[at + 1 :] if t.decision.type is MemoryType.EPISODE), None)
                memory = self._add_to_episode(turn, following)
            else:
                memory = self._begin(turn, turn.decision.type or MemoryType.EPISODE)
            event = turn.event
            self.links.append(MemoryLink(memory.memory_id, event.event_id, event.sequence))
            self.opened[event.event_id] = (turn, memory)
            if self.windows.turns and self.windows.turns[-1].asks:
                self.answers.add(event.event_id)
            self.windows, finished = self.windows.extended(
                alone(
                    event.event_id,
                    memory.memory_id,
                    event.sequence,
                    turn.plain,
                    turn.keywords,
                    asks=asks(event.content),
                )
            )
            self.finished.extend(finished)
            self.windows_closed = False

    def strengthen(self, events: Sequence[Event], repetitions: Mapping[UUID, Repetition]) -> None:
        """Take in repetitions of what is known or was added: they support a memory and add nothing to it."""
        for event in events:
            repetition = repetitions.get(event.event_id)
            if repetition is None:
                continue
            memory_id = repetition.memory_id or self.opened[repetition.unit_id][1].memory_id
            self.links.append(MemoryLink(memory_id, event.event_id, event.sequence, repeats=repetition.unit_id))
            before = self.strengthened.get(memory_id)
            said_at = event.occurred_at
            self.strengthened[memory_id] = Strengthened(
                memory_id,
                times=1 + (before.times if before else 0),
                first_said_at=min(said_at, before.first_said_at) if before else said_at,
            )

    def close(self) -> None:
        """End the session's open episode and windows."""
        self.finished.extend(self.windows.closed())
        self.windows = OpenWindows()
        self.windows_closed = True
        self.open_episode = None
        self.segment = None
        self.last_turn = None

    def touched(self) -> dict[UUID, tuple[WindowedTurn, bool]]:
        """Return the turns whose projections are new or have grown, by unit, each with whether it is closed."""
        known = {turn.unit_id: turn for turn in self.pending.windows.turns}
        touched = {turn.unit_id: (turn, True) for turn in self.finished}
        for turn in self.windows.turns:
            if turn.unit_id not in touched and known.get(turn.unit_id) is not turn:
                touched[turn.unit_id] = (turn, False)
        return touched

    def bags_beyond(self, most_terms: int) -> set[int]:
        """Return the terms of all bags that are too large to be kept whole, so that their frequencies matter."""
        return {
            term
            for turn, _ in self.touched().values()
            if len(turn.bag.weights) > most_terms
            for term in turn.bag.weights
        }

    def projections(self, statistics: KeywordStatistics) -> tuple[tuple[SearchUnit, ...], tuple[UnitProjection, ...]]:
        """Return the units of new turns, and the new projections of older turns whose windows grew."""
        touched = self.touched()
        counted = with_bags(statistics, [turn.bag for turn, closed in touched.values() if closed])
        units: list[SearchUnit] = []
        grown: list[UnitProjection] = []
        for unit_id, (turn, closed) in touched.items():
            projection = UnitProjection(unit_id, turn.vector, indexed_terms(turn.bag, counted), closed)
            if unit_id in self.opened:
                kept, memory = self.opened[unit_id]
                units.append(
                    SearchUnit(
                        memory_id=memory.memory_id,
                        occurred_at=kept.event.occurred_at,
                        type=memory.type,
                        projection=projection,
                        speaker=kept.speaker,
                        flags=flags_of(kept, answers=unit_id in self.answers),
                    )
                )
            else:
                grown.append(projection)
        return tuple(units), tuple(grown)

    def counted(self, units: Sequence[SearchUnit]) -> CountedBags:
        """Return what this adds to the namespace's counts."""
        bags = [turn.bag for turn in self.finished]
        return CountedBags(
            units=len(bags),
            keyword_total=sum(bag.length for bag in bags),
            chinese_units=sum(bool(unit.flags & UnitFlag.CHINESE) for unit in units),
            english_units=sum(bool(unit.flags & UnitFlag.ENGLISH) for unit in units),
            terms=count_units(bags),
        )

    def _add_to_episode(self, turn: KeptTurn, following: KeptTurn | None) -> Memory:
        looked_at = _segment_turn(turn)
        if self.open_episode is None or self.segment is None:
            return self._begin_episode(turn, looked_at, "first")
        boundary = boundary_before(self.segment, looked_at, _segment_turn(following) if following else None, self.rules)
        if boundary is not None:
            return self._begin_episode(turn, looked_at, boundary.value)
        episode = joined_by(self.open_episode, turn, self.now)
        self.segment = self.segment.joined_by(looked_at)
        self.last_turn = turn.event
        if episode.memory_id in self.created:
            self.created[episode.memory_id] = episode
        else:
            self.extended = episode
        self.open_episode = episode
        return episode

    def _begin_episode(self, turn: KeptTurn, looked_at: SegmentTurn, why: str) -> Memory:
        self.open_episode = self._begin(turn, MemoryType.EPISODE)
        self.segment = OpenSegment.starting_with(looked_at)
        self.boundaries[turn.event.event_id] = why
        if why == Boundary.FULL and self.last_turn and len(self.last_turn.searchable_text) <= MAX_OVERLAP_CHARACTERS:
            # A long talk goes on: its next part begins with where the last one left off.
            self.open_episode = overlapping(self.open_episode, self.last_turn)
            self.created[self.open_episode.memory_id] = self.open_episode
            self.links.append(MemoryLink(self.open_episode.memory_id, self.last_turn.event_id, self.last_turn.sequence))
        self.last_turn = turn.event
        return self.open_episode

    def _begin(self, turn: KeptTurn, memory_type: MemoryType) -> Memory:
        session_id = self.pending.session.session_id
        memory = memory_of_turn(turn, new_id(), memory_type, session_id, self.generation.generation_id, self.now)
        self.created[memory.memory_id] = memory
        return memory


def flags_of(turn: KeptTurn, *, answers: bool) -> UnitFlag:
    """Return the flags of a turn's search unit; `answers` when the turn before it asks."""
    flags = language_flags(turn.analysis.languages) | said_flags(len(turn.keywords))
    if is_question(turn.event.content):
        flags |= UnitFlag.QUESTION
    if answers:
        flags |= UnitFlag.ANSWER
    if turn.analysis.time_ranges:
        flags |= UnitFlag.RESOLVABLE_TIME
    if turn.event.role is EventRole.USER:
        flags |= UnitFlag.ROLE_USER
    return flags


def with_bags(statistics: KeywordStatistics, bags: Sequence[KeywordBag]) -> KeywordStatistics:
    """Return the counts as they will be with these bags in them."""
    frequencies: Mapping[int, int] = statistics.frequencies
    if bags:
        added = count_units(bags)
        frequencies = {term: units + added.get(term, 0) for term, units in frequencies.items()}
        frequencies = {**added, **frequencies}
    return KeywordStatistics(
        units=statistics.units + len(bags),
        keyword_total=statistics.keyword_total + sum(bag.length for bag in bags),
        frequencies=frequencies,
    )


def _segment_turn(turn: KeptTurn) -> SegmentTurn:
    text = turn.event.searchable_text
    return SegmentTurn(
        plain=turn.topic,
        occurred_at=turn.event.occurred_at,
        characters=len(text),
        announced=announces_topic(text),
        untrusted=trust_of(turn.event) is Trust.UNTRUSTED,
    )


def _segment_of(pending: PendingEvents, generation: EmbeddingGeneration) -> OpenSegment | None:
    """Return the open segment as it was left; None when its last turns' vectors are gone, and a new one begins."""
    if pending.episode is None:
        return None
    memory = pending.episode.memory
    plain = [turn.plain for turn in pending.windows.turns if turn.memory_id == memory.memory_id]
    if not plain:
        return None
    # The turns' own languages are not kept; the episode's are theirs taken together.
    recent = generation.corrected(np.stack(plain), [memory.languages] * len(plain))
    return OpenSegment(
        recent=tuple(recent[-LOOK_BACK:]),
        last_occurred_at=memory.occurred_until or memory.occurred_at,
        turns=pending.episode.turns,
        characters=len(memory.content),
        untrusted=memory.trust is Trust.UNTRUSTED,
    )
