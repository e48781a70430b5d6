"""From what the routes found to scored candidates."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain import bm25
from rearview.domain.event import Event, EventRole
from rearview.domain.fusion import FULL_SAMPLE, Pool, QueryFeatures, fuse, is_user_chat
from rearview.domain.memory import DEFAULT_PRIORITY, MemoryType
from rearview.domain.principal import Scope
from rearview.domain.recall import Route, ScoreParts
from rearview.domain.relevance import logit_terms, relevances
from rearview.domain.scoring import MemoryScores, Profile, Standings, memory_scores
from rearview.domain.search_unit import FULL_LENGTH, UnitFlag, language_flags, languages_of, said_flags
from rearview.domain.text import Language
from rearview.ports.found_units import FoundUnits, route_bit, routes_of
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.query_reader import QueryReader
from rearview.ports.recall_store import Found, FoundTurn, Search
from rearview.retriever.question import Question

FRESH_TURNS = 10
"""So many of a session's last turns are candidates without sharing a word with the query: what was just said."""

# Facts and summaries say by their flags whose words they are: a tool's are not the user's.
_OF_THE_USER = tuple(int(kind) for kind in (MemoryType.EXPLICIT, MemoryType.CONSTRAINT, MemoryType.DECISION))
Number = TypeVar("Number", bound=np.generic)

_CALLED_FOR = route_bit(Route.ENTITY) | route_bit(Route.TIME) | route_bit(Route.WORKING_MEMORY)


@dataclass(frozen=True, slots=True)
class UnitRef:
    """Which search unit a candidate is."""

    unit_id: UUID
    memory_id: UUID


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit, or a turn that no memory holds, with its score; exactly one of `unit` and `turn` is set.

    `asked_for` says that it is not to be dropped for its text scores: an entity, a time or the session calls for it, or
    there are too few candidates to tell. `vector_z` is None where there was no vector. `languages` are those of the
    unit's own text.
    """

    scope: Scope
    unit: UnitRef | None
    turn: FoundTurn | None
    routes: frozenset[Route]
    score: ScoreParts
    vector_z: float | None
    asked_for: bool
    languages: frozenset[Language] = frozenset()

    @property
    def resource_id(self) -> UUID:
        """The id of its unit or event; unique in an answer."""
        return self.unit.unit_id if self.unit else self._bare_turn.event_id

    @property
    def group_id(self) -> UUID:
        """The id of its memory, or of its event where there is none."""
        return self.unit.memory_id if self.unit else self._bare_turn.event_id

    @property
    def resource_name(self) -> str:
        """The name of its memory or event."""
        parent = f"namespaces/{self.scope.namespace}"
        if self.unit:
            return f"{parent}/memories/{self.unit.memory_id}"
        return f"{parent}/sessions/{self._bare_turn.session_id}/events/{self._bare_turn.event_id}"

    @property
    def _bare_turn(self) -> FoundTurn:
        assert self.turn is not None  # noqa: S101 - one of the two is set
        return self.turn


@dataclass(frozen=True, eq=False)
class Scored:
    """The scored rows of a namespace; a candidate is made of one of the best of them when it is asked for, and once:
    most are never looked at, and some both for the answer and for its trace.

    Attributes:
        scores, vector_z: as of `memory_scores` and `fuse`; the latter NaN where there was no vector.
        terms: (n,) float64 each, what the fused scores are the sum of.
        has_few: whether there are too few rows to tell noise by its vector.
    """

    scope: Scope
    rows: "Rows"
    scores: MemoryScores
    terms: Mapping[str, NDArray[np.float64]]
    vector_z: NDArray[np.float64]
    profile: Profile
    has_few: bool
    _made: dict[int, Candidate] = field(default_factory=dict)

    def best(self, limit: int | None) -> list[Candidate]:
        """Return the best `limit` candidates (None: all), best first; of equal ones the newest first."""
        return [self._candidate(at) for at in _best(self.scores.total, self.rows, limit)]

    def of_turns(self, event_ids: Collection[UUID]) -> dict[UUID, Candidate]:
        """Return the candidates of turns that no memory holds, by event; those that are not among the rows are not."""
        first = len(self.rows.units)
        return {
            turn.event_id: self._candidate(first + at)
            for at, turn in enumerate(self.rows.turns)
            if turn.event_id in event_ids
        }

    def route_counts(self) -> dict[Route, int]:
        """Return how many rows each route found."""
        return {route: int(np.count_nonzero(self.rows.routes & route_bit(route))) for route in Route}

    @cached_property
    def _columns(self) -> "_Columns":
        return _Columns.of(self)

    def _candidate(self, at: int) -> Candidate:
        if at not in self._made:
            self._made[at] = self._made_of(at)
        return self._made[at]

    def _made_of(self, at: int) -> Candidate:
        units, profile, columns = self.rows.units, self.profile, self._columns
        is_unit = at < len(units)
        turn = None if is_unit else self.rows.turns[at - len(units)]
        routes, z = columns.routes[at], columns.vector_z[at]
        similarity = columns.similarity[at] if is_unit else math.nan
        return Candidate(
            scope=self.scope,
            unit=UnitRef(units.unit_ids[at], units.memory_ids[at]) if is_unit else None,
            turn=turn,
            routes=routes_of(routes),
            score=ScoreParts(
                total=columns.total[at],
                relevance=columns.relevance[at],
                recency=columns.recency[at],
                frequency=columns.frequency[at],
                emotion=columns.emotion[at],
                relevance_weight=profile.relevance,
                recency_weight=profile.recency,
                frequency_weight=profile.frequency,
                emotion_weight=profile.emotion,
                vector_similarity=None if math.isnan(similarity) else similarity,
                keyword_score=turn.keyword_score if turn else columns.keyword_score[at],
                fusion_terms=logit_terms({name: values[at] for name, values in columns.terms.items()}),
            ),
            vector_z=None if math.isnan(z) else z,
            asked_for=self.has_few or bool(routes & _CALLED_FOR),
            languages=languages_of(columns.flags[at]) if is_unit else frozenset(),
        )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The arrays of `Scored` as lists: to take one number out of an array costs as much as ten out of a list."""

    routes: list[int]
    vector_z: list[float]
    total: list[float]
    relevance: list[float]
    recency: list[float]
    frequency: list[float]
    emotion: list[float]
    similarity: list[float]
    keyword_score: list[float]
    flags: list[int]
    terms: Mapping[str, list[float]]

    @classmethod
    def of(cls, scored: Scored) -> "_Columns":
        units, scores = scored.rows.units, scored.scores
        return cls(
            routes=scored.rows.routes.tolist(),
            vector_z=scored.vector_z.tolist(),
            total=scores.total.tolist(),
            relevance=scores.relevance.tolist(),
            recency=scores.recency.tolist(),
            frequency=scores.frequency.tolist(),
            emotion=scores.emotion.tolist(),
            similarity=units.similarity.tolist(),
            keyword_score=units.keyword_score.tolist(),
            flags=units.flags.tolist(),
            terms={name: values.tolist() for name, values in scored.terms.items()},
        )


class CandidateScorer:
    """Scores what was found in one namespace."""

    def __init__(self, reader: QueryReader, hasher: KeywordHasher) -> None:
        self._reader = reader
        self._hasher = hasher

    def score(
        self,
        search: Search,
        found: Found,
        working: Sequence[tuple[str, Event]],
        question: Question,
    ) -> Scored | None:
        """Score what is of one namespace, each event once; None if nothing is.

        `working` are turns of working memory that pass the filter, oldest first, with their session.
        """
        rows = self._rows(search, found, working)
        if not len(rows):
            return None
        named = self._reader.named_speakers(question.text, [name for _, name in found.statistics.speakers])
        pool = self._pool(search, rows, named)
        fused = fuse(pool, self._features(search, found, question, pool, named))
        scores = memory_scores(relevances(fused.total), _standings(rows, question.now.timestamp()), question.profile)
        compared = int(np.count_nonzero(~np.isnan(pool.vector)))
        return Scored(
            scope=search.scope,
            rows=rows,
            scores=scores,
            terms=fused.terms,
            vector_z=np.where(np.isnan(pool.vector), np.nan, fused.vector_z),
            profile=question.profile,
            has_few=0 < compared < FULL_SAMPLE,
        )

    def _rows(self, search: Search, found: Found, working: Sequence[tuple[str, Event]]) -> "Rows":
        units = found.units
        at_of = {unit_id: at for at, unit_id in enumerate(units.unit_ids)} if working or found.turns else {}
        routes = units.routes.copy()
        # A turn may be indexed between the two statements; it is found once, as its unit.
        turns = {turn.event_id: turn for turn in found.turns if turn.event_id not in at_of}
        turn_routes = dict.fromkeys(turns, route_bit(Route.RAW_TURNS))
        fresh = {event.event_id for _, event in working[-FRESH_TURNS:]}
        for session_id, event in working:
            event_id = event.event_id
            if event_id in at_of:
                routes[at_of[event_id]] |= route_bit(Route.WORKING_MEMORY)
            elif event_id in turns:
                turn_routes[event_id] |= route_bit(Route.WORKING_MEMORY)
            else:
                score = self._keyword_score(search, found, event)
                if score > 0.0 or event_id in fresh:
                    turns[event_id] = FoundTurn(
                        event_id, session_id, event.role, event.speaker, event.occurred_at, score
                    )
                    turn_routes[event_id] = route_bit(Route.WORKING_MEMORY)
        return Rows(
            units,
            tuple(turns.values()),
            np.concatenate([routes, np.fromiter(turn_routes.values(), dtype=np.int64, count=len(turns))]),
        )

    def _keyword_score(self, search: Search, found: Found, event: Event) -> float:
        statistics = found.statistics
        keywords = self._hasher.keywords(search.scope.namespace_id, event.searchable_text)
        return bm25.score(search.terms, statistics.frequencies, statistics.units, keywords, statistics.average_length)

    def _pool(self, search: Search, rows: "Rows", named: Sequence[str]) -> Pool:
        namespace_id = search.scope.namespace_id
        units, turns = rows.units, rows.turns
        speakers = {turn.speaker: self._hasher.speaker(namespace_id, turn.speaker) for turn in turns}
        user, unknown = int(UnitFlag.ROLE_USER), int(said_flags(FULL_LENGTH // 2))
        voiced = ((units.flags & user) != 0) | np.isin(units.memory_type, _OF_THE_USER)
        return Pool(
            keyword=rows.joined(units.keyword_score, [turn.keyword_score for turn in turns]),
            vector=rows.joined(units.similarity, [np.nan] * len(turns)),
            translation=rows.joined(units.translation_score, [0.0] * len(turns)),
            flags=rows.joined(units.flags, [unknown | user * (turn.role is EventRole.USER) for turn in turns]),
            speaker=rows.joined(units.speaker, [speakers[turn.speaker] for turn in turns]),
            occurred_at=rows.joined(units.occurred_at, [turn.occurred_at.timestamp() for turn in turns]),
            voiced_by_user=rows.joined(voiced, [turn.role is EventRole.USER for turn in turns]),
            entity_share=rows.joined(self._entity_shares(search, units, named), [0.0] * len(turns)),
        )

    def _entity_shares(self, search: Search, units: FoundUnits, named: Sequence[str]) -> NDArray[np.float64]:
        # Speakers are in every turn around theirs, and have a term of their own.
        wanted = frozenset(search.entity_keys) - {self._reader.canonical_entity(name) for name in named}
        if not wanted:
            return np.zeros(len(units), dtype=np.float64)
        return np.array([len(wanted.intersection(one)) / len(wanted) for one in units.entity_matches], dtype=np.float64)

    def _features(
        self, search: Search, found: Found, question: Question, pool: Pool, named: Sequence[str]
    ) -> QueryFeatures:
        statistics = found.statistics
        hashes: Mapping[str, int] = {name: number for number, name in statistics.speakers}
        return QueryFeatures(
            speakers=tuple({hashes[name] for name in named}),
            time_ranges=question.time_ranges,
            asks_when=question.asks_when,
            languages=language_flags(question.languages),
            both_languages=statistics.chinese_units > 0 and statistics.english_units > 0,
            role_matters=is_user_chat(pool),
            is_dialogue=question.is_dialogue,
            keyword_mass=bm25.query_mass(search.terms, statistics.frequencies, statistics.units),
            translation_mass=search.translated.mass(statistics.frequencies, statistics.units),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is scored: units first, then bare turns. `routes`: (n,) int64, for both."""

    units: FoundUnits
    turns: Sequence[FoundTurn]
    routes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.routes)

    def joined(self, of_units: NDArray[Number], of_turns: Sequence[object]) -> NDArray[Number]:
        """Return a column of both."""
        return np.concatenate([of_units, np.array(of_turns, dtype=of_units.dtype)]) if of_turns else of_units

    def occurred_at(self, at: int) -> float:
        """Return when it was said, in Unix seconds."""
        if at < len(self.units):
            return float(self.units.occurred_at[at])
        return self.turns[at - len(self.units)].occurred_at.timestamp()

    def resource_id(self, at: int) -> UUID:
        """Return the id of a row's unit or event."""
        return self.units.unit_ids[at] if at < len(self.units) else self.turns[at - len(self.units)].event_id


def _standings(rows: Rows, now: float) -> Standings:
    units, turns = rows.units, rows.turns
    none, count = [0.0] * len(turns), len(turns)
    return Standings(
        age_seconds=now - rows.joined(units.used_at, [turn.occurred_at.timestamp() for turn in turns]),
        access_count=rows.joined(units.access_count, [0] * count),
        intensity=rows.joined(units.intensity, none),
        pinned=rows.joined(units.pinned, [False] * count),
        priority=rows.joined(units.priority, [DEFAULT_PRIORITY] * count),
    )


def _best(totals: NDArray[np.float64], rows: Rows, limit: int | None) -> list[int]:
    """Return the places of the best rows, best first; of equal ones the newest first, then by their ids."""
    if limit is not None and limit < len(totals):
        least = np.partition(totals, len(totals) - limit)[len(totals) - limit]
        places = np.flatnonzero(totals >= least).tolist()
    else:
        places = list(range(len(totals)))
    listed = totals.tolist()
    return sorted(places, key=lambda at: (-listed[at], -rows.occurred_at(at), rows.resource_id(at)))[:limit]
