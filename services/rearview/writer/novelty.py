"""The novelty gate: whether a turn tells what its namespace knows already.

Near duplicates are found by the bands of their signatures and confirmed by their texts; repetitions in other words by
vector. Search vectors carry their neighbours, so they only propose; then plain vectors are compared, corrected for
their language. Neither is believed before the words were looked at: numbers, names, dates, negation, content.

A turn is compared with what was said first, never with another repetition, so that a chain of small changes does not
end in one memory. Whoever says it counts: the same words of another speaker are another statement. So does the day that
is spoken of, until the same was said of `MOST_DAYS` of them.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.event import CaptureOutcome, Event
from rearview.domain.memory import MemoryType
from rearview.domain.text import EntityType, Language, TimeRange
from rearview.domain.turn_text import is_question, unit_text
from rearview.ports.analyzer import Analysis, Analyzer
from rearview.ports.clock import Clock
from rearview.ports.embedder import Embedder
from rearview.ports.known_statements import AskedStatement, Candidates, KnownStatement, KnownStatements, Watch
from rearview.ports.near_duplicates import NearDuplicates
from rearview.writer.episodes import KeptTurn

PROPOSED_PER_KIND = 3
"""Candidates of each kind (and language) that are looked at for one turn."""

PROPOSE_FROM = 0.4
"""In one language: about .7 of a smoothed vector is the turn's own, so those of repetitions are more alike than this.
Across languages uncorrected vectors say too little; there the order decides."""

MOST_AFRESH = 32
"""Candidates, of the same language and again of the other, that are embedded anew for one batch, the likeliest first;
what is beyond counts as new."""

MOST_DAYS = 3
"""A statement that is known of so many other days ("today I want a latte") is a habit: from then on, it is linked."""

REMEMBERED_VECTORS = 4_096
"""Vectors of recent turns that are kept, so that what is repeated soon is not embedded again."""

_NAMES = frozenset({EntityType.PERSON, EntityType.PLACE, EntityType.ORGANISATION, EntityType.IDENTIFIER})


@dataclass(frozen=True, slots=True)
class Repetition:
    """That a turn says what is known.

    Attributes:
        unit_id: the search unit that said it first.
        memory_id: its memory; None where that comes of the same batch.
        outcome: MERGED for a near duplicate, REDUNDANT for other words.
        reason: the rule and the figures, never content.
    """

    unit_id: UUID
    memory_id: UUID | None
    outcome: CaptureOutcome
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Novelty:
    """The turns that are new, those that are not, by event, and the bands by which the new ones are found later; and on
    what that stands, should another writer store the same meanwhile."""

    new: tuple[KeptTurn, ...] = ()
    repetitions: Mapping[UUID, Repetition] = field(default_factory=dict)
    bands: Mapping[UUID, tuple[int, ...]] = field(default_factory=dict)
    watch: Watch | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _First:
    """A statement that may be repeated, said before the batch (with its memory) or in it (with its analysis)."""

    unit_id: UUID
    memory_id: UUID | None
    type: MemoryType
    event: Event
    languages: frozenset[Language]
    vector: NDArray[np.float32] | None
    analysis: Analysis | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Match:
    """A statement that a turn seems to repeat; `cosine` is 2 for a near duplicate, which comes before all others.
    `verbatim` where only case and punctuation differ."""

    first: _First
    cosine: float
    repetition: Repetition
    verbatim: bool = False


class NoveltyGate:
    """Parts a batch of kept turns into new ones and repetitions."""

    def __init__(
        self,
        known: KnownStatements,
        embedder: Embedder,
        analyzer: Analyzer,
        near_duplicates: NearDuplicates,
        clock: Clock,
    ) -> None:
        self._known = known
        self._embedder = embedder
        self._analyzer = analyzer
        self._near_duplicates = near_duplicates
        self._clock = clock
        self._vectors: OrderedDict[UUID, NDArray[np.float32]] = OrderedDict()

    async def part(
        self,
        tenant_id: UUID,
        namespace_id: UUID,
        turns: Sequence[KeptTurn],
        stages: dict[str, float] | None = None,
        *,
        without: Collection[UUID] = (),
    ) -> Novelty:
        """Return which of the turns are new, in order. What a caller wants remembered is compared with what was
        remembered by request before, and kept unless that says it. Memories in `without` are not compared with.

        Raises:
            ModelUnavailable: the embedder cannot answer.
            Unavailable: the database cannot be reached.
        """
        if not turns:
            return Novelty()
        started = time.perf_counter()
        texts = [turn.event.searchable_text for turn in turns]
        bands = await asyncio.to_thread(lambda: [self._near_duplicates.bands(text) for text in texts])
        asked = {
            turn.event.event_id: AskedStatement(turn.plain if _may_be_reworded(turn) else None, own)
            for turn, own in zip(turns, bands, strict=True)
        }
        limit = PROPOSED_PER_KIND + len(without)
        found, writes = await self._known.candidates(
            tenant_id, namespace_id, list(asked.values()), limit=limit, now=self._clock.now()
        )
        other = [[one for one in candidates if one.memory_id not in without] for candidates in found]
        possible = await asyncio.to_thread(self._possible, turns, other)
        vectors = await self._afresh(turns, possible)
        repetitions = await asyncio.to_thread(self._repetitions, turns, possible, vectors)
        for turn in turns:
            self._remember(turn.event.event_id, turn.topic)
        if stages is not None:
            stages["novelty"] = round((time.perf_counter() - started) * 1000 / len(turns), 3)
        new = tuple(turn for turn in turns if turn.event.event_id not in repetitions)
        seen = frozenset(one.unit_id for candidates in found for one in candidates)
        return Novelty(
            new=new,
            repetitions=repetitions,
            bands={turn.event.event_id: asked[turn.event.event_id].bands for turn in new},
            watch=Watch(
                tuple(asked[turn.event.event_id] for turn in new),
                limit,
                writes,
                lambda later: self._are_doubtful(new, later, seen),
            ),
        )

    def _are_doubtful(self, new: Sequence[KeptTurn], found: Candidates, seen: frozenset[UUID]) -> bool:
        judged = seen | {turn.event.event_id for turn in new}
        later = [[one for one in candidates if one.unit_id not in judged] for candidates in found]
        return any(self._possible(new, later))

    def _possible(self, turns: Sequence[KeptTurn], found: Candidates) -> list[list[KnownStatement]]:
        return [
            [
                one
                for one in candidates
                if _may_hold(one.type, turn)
                and (one.unit_id == one.memory_id or not turn.by_request)
                and self._comparable(one.event, turn.event)
            ]
            for turn, candidates in zip(turns, found, strict=True)
        ]

    async def _afresh(
        self, turns: Sequence[KeptTurn], possible: Sequence[Sequence[KnownStatement]]
    ) -> dict[UUID, NDArray[np.float32]]:
        """Return the corrected vectors of the likeliest candidates, embedding those that are not remembered."""
        vectors: dict[UUID, NDArray[np.float32]] = {}
        wanted: tuple[dict[UUID, KnownStatement], dict[UUID, KnownStatement]] = ({}, {})
        proposed = [
            (one, bool(one.languages & turn.analysis.languages))
            for turn, candidates in zip(turns, possible, strict=True)
            if _may_be_reworded(turn)
            for one in candidates
        ]
        for one, same_language in sorted(proposed, key=lambda pair: -pair[0].cosine):
            if one.unit_id in self._vectors:
                vectors[one.unit_id] = self._vectors[one.unit_id]
            elif len(wanted[same_language]) < MOST_AFRESH and (not same_language or one.cosine >= PROPOSE_FROM):
                wanted[same_language].setdefault(one.unit_id, one)
        unknown = {**wanted[False], **wanted[True]}
        if unknown:
            languages = [one.languages for one in unknown.values()]
            generation = self._embedder.generation
            plain = generation.centre(
                await self._embedder.embed_passages([unit_text(one.event, one.languages) for one in unknown.values()])
            )
            for unit_id, vector in zip(unknown, generation.corrected(plain, languages), strict=True):
                vectors[unit_id] = vector
                self._remember(unit_id, vector)
        return vectors

    def _repetitions(
        self,
        turns: Sequence[KeptTurn],
        possible: Sequence[Sequence[KnownStatement]],
        vectors: Mapping[UUID, NDArray[np.float32]],
    ) -> dict[UUID, Repetition]:
        known = [
            [_First(o.unit_id, o.memory_id, o.type, o.event, o.languages, vectors.get(o.unit_id)) for o in candidates]
            for candidates in possible
        ]
        matches = [self._matches(turn, firsts) for turn, firsts in zip(turns, known, strict=True)]
        analyses = self._analysed([match.first for each in matches for match in each])
        repetitions: dict[UUID, Repetition] = {}
        earlier: list[_First] = []
        for turn, of_turn in zip(turns, matches, strict=True):
            here = [one for one in earlier if _may_hold(one.type, turn) and self._comparable(one.event, turn.event)]
            repetition = _best(turn, [*of_turn, *self._matches(turn, here)], analyses)
            if repetition is not None:
                repetitions[turn.event.event_id] = repetition
            else:
                earlier.append(
                    _First(
                        turn.event.event_id,
                        None,
                        turn.decision.type or MemoryType.EPISODE,
                        turn.event,
                        turn.analysis.languages,
                        turn.topic,
                        turn.analysis,
                    )
                )
        return repetitions

    def _matches(self, turn: KeptTurn, firsts: Sequence[_First]) -> list[_Match]:
        matches = []
        for first in firsts:
            if self._same_words(turn, first):
                found = Repetition(first.unit_id, first.memory_id, CaptureOutcome.MERGED, "near duplicate")
                texts = first.event.searchable_text, turn.event.searchable_text
                matches.append(_Match(first, 2.0, found, self._near_duplicates.same_words(*texts)))
            elif first.vector is not None and self._may_reword(turn, first):
                cosine = float(first.vector @ turn.topic)
                least = self._least_cosine(first, turn)
                if cosine >= least:
                    reason = f"known already: cosine {cosine:.3f} >= {least:.3f}"
                    found = Repetition(first.unit_id, first.memory_id, CaptureOutcome.REDUNDANT, reason)
                    matches.append(_Match(first, cosine, found))
        return matches

    def _same_words(self, turn: KeptTurn, first: _First) -> bool:
        mine, theirs = turn.event.searchable_text, first.event.searchable_text
        if mine.split() == theirs.split():
            return True
        # One report of a tool differs from the next in little, and that little is the news.
        return turn.decision.type is not MemoryType.TOOL_RESULT and self._near_duplicates.are_duplicates(theirs, mine)

    def _may_reword(self, turn: KeptTurn, first: _First) -> bool:
        """Whether a vector may decide. A text to be remembered has no turn that keeps it: one that adds a word to what
        is known is stored, however near the vectors are."""
        if not _may_be_reworded(turn):
            return False
        known = first.event.searchable_text
        return not (turn.by_request and self._near_duplicates.adds_words(known, turn.event.searchable_text))

    def _least_cosine(self, first: _First, turn: KeptTurn) -> float:
        thresholds = self._embedder.generation.thresholds
        languages = turn.analysis.languages
        if not first.languages & languages:
            return thresholds.cross_language_cosine
        known, said = first.event.searchable_text, turn.event.searchable_text
        least = thresholds.redundant_cosine
        if first.languages != languages:
            least = max(least, thresholds.cross_language_cosine)
        if self._near_duplicates.adds_words(known, said) and self._near_duplicates.adds_words(said, known):
            # Other words, or another content in words of their own: near the threshold, as many are one as the other.
            return (least + 1.0) / 2
        return least

    def _comparable(self, first: Event, turn: Event) -> bool:
        if first.event_id == turn.event_id or first.role is not turn.role:
            return False
        if first.speaker.casefold() != turn.speaker.casefold():
            return False
        if (first.tool_call and first.tool_call.tool) != (turn.tool_call and turn.tool_call.tool):
            return False
        return self._near_duplicates.difference(first.searchable_text, turn.searchable_text) is None

    def _analysed(self, firsts: Sequence[_First]) -> dict[UUID, Analysis]:
        events = {first.unit_id: first.event for first in firsts}
        analyses = self._analyzer.analyze_batch(
            [event.searchable_text for event in events.values()],
            references=[event.occurred_at for event in events.values()],
            roles=[event.role.name.lower() for event in events.values()],
        )
        return dict(zip(events, analyses, strict=True))

    def _remember(self, unit_id: UUID, vector: NDArray[np.float32]) -> None:
        self._vectors[unit_id] = vector
        self._vectors.move_to_end(unit_id)
        while len(self._vectors) > REMEMBERED_VECTORS:
            self._vectors.popitem(last=False)


def _best(turn: KeptTurn, matches: Sequence[_Match], analyses: Mapping[UUID, Analysis]) -> Repetition | None:
    of_other_days: list[_Match] = []
    for match in sorted(matches, key=lambda one: -one.cosine):
        analysis = match.first.analysis or analyses[match.first.unit_id]
        # Names are recognised by their capitals: in the same words, other names are a matter of spelling.
        if not match.verbatim and _named(analysis) != _named(turn.analysis):
            continue
        if _dated(analysis) == _dated(turn.analysis):
            return match.repetition
        of_other_days.append(match)
    if len(of_other_days) < MOST_DAYS or turn.by_request:
        return None
    latest = max(of_other_days, key=lambda one: one.first.event.occurred_at).repetition
    return replace(latest, outcome=CaptureOutcome.REDUNDANT, reason=f"known of {len(of_other_days)} other days")


def _may_be_reworded(turn: KeptTurn) -> bool:
    """Whether other words may say the same. A question tells nothing, and is not worth the search."""
    return (turn.decision.type is MemoryType.EPISODE or turn.by_request) and not is_question(turn.event.content)


def _may_hold(known: MemoryType, turn: KeptTurn) -> bool:
    """A turn of a forced kind is kept unless a memory of its kind says it; any memory may know what was just said."""
    return turn.decision.type in (known, MemoryType.EPISODE)


def _named(analysis: Analysis) -> frozenset[str]:
    return frozenset(entity.canonical for entity in analysis.entities if entity.type in _NAMES)


def _dated(analysis: Analysis) -> frozenset[TimeRange]:
    # "Yesterday" said on two days is two days.
    return frozenset(analysis.time_ranges)
