"""From what the routes found to scored candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from rearview.domain import bm25
from rearview.domain.event import Event, EventRole
from rearview.domain.fusion import FULL_SAMPLE, Pool, QueryFeatures, fuse, is_user_chat
from rearview.domain.memory import MemoryType
from rearview.domain.principal import Scope
from rearview.domain.recall import Route, ScoreParts
from rearview.domain.relevance import logit_terms, relevance
from rearview.domain.scoring import Profile, Standing, memory_score
from rearview.domain.search_unit import FULL_LENGTH, UnitFlag, language_flags, said_flags
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.query_reader import QueryReader
from rearview.ports.recall_store import Found, FoundTurn, FoundUnit, Search
from rearview.retriever.question import Question

FRESH_TURNS = 10
"""So many of a session's last turns are candidates without sharing a word with the query: what was just said."""

# Facts and summaries say by their flags whose words they are: a tool's are not the user's.
_OF_THE_USER = frozenset({MemoryType.EXPLICIT, MemoryType.CONSTRAINT, MemoryType.DECISION})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit, or a turn that no memory holds, with its score; exactly one of `unit` and `turn` is set.

    `asked_for` says that it is not to be dropped for its text scores: an entity, a time or the session calls for it, or
    there are too few candidates to tell. `vector_z` is None where there was no vector.
    """

    scope: Scope
    unit: FoundUnit | None
    turn: FoundTurn | None
    routes: frozenset[Route]
    standing: Standing
    score: ScoreParts
    vector_z: float | None
    asked_for: bool

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


class CandidateScorer:
    """Scores what was found in one namespace."""

    def __init__(self, reader: QueryReader, hasher: KeywordHasher) -> None:
        self._reader = reader
        self._hasher = hasher

    def score(
        self, search: Search, found: Found, working: Sequence[tuple[str, Event]], question: Question
    ) -> list[Candidate]:
        """Return the candidates of one namespace, in no order; each event is in it once.

        `working` are turns of working memory that pass the filter, oldest first, with their session.
        """
        units, turns = self._merged(search, found, working)
        if not units and not turns:
            return []
        named = self._reader.named_speakers(question.text, [name for _, name in found.statistics.speakers])
        pool = self._pool(search, units, turns, named)
        fused = fuse(pool, self._features(found, question, pool, named))
        terms = {name: values.tolist() for name, values in fused.terms.items()}
        compared = int(np.count_nonzero(~np.isnan(pool.vector)))
        has_few = 0 < compared < FULL_SAMPLE
        candidates = []
        for at, (unit, turn, routes) in enumerate(
            [(unit, None, routes) for unit, routes in units] + [(None, turn, routes) for turn, routes in turns]
        ):
            standing = _standing(unit, turn, question.now)
            candidates.append(
                Candidate(
                    scope=search.scope,
                    unit=unit,
                    turn=turn,
                    routes=routes,
                    standing=standing,
                    score=score_parts(
                        relevance(float(fused.total[at])),
                        standing,
                        question.profile,
                        vector_similarity=unit.similarity if unit else None,
                        keyword_score=unit.keyword_score if unit else turn.keyword_score if turn else None,
                        fusion_terms=logit_terms({name: values[at] for name, values in terms.items()}),
                    ),
                    vector_z=None if np.isnan(pool.vector[at]) else float(fused.vector_z[at]),
                    asked_for=has_few or bool(routes & {Route.ENTITY, Route.TIME, Route.WORKING_MEMORY}),
                )
            )
        return candidates

    def _merged(
        self, search: Search, found: Found, working: Sequence[tuple[str, Event]]
    ) -> tuple[list[tuple[FoundUnit, frozenset[Route]]], list[tuple[FoundTurn, frozenset[Route]]]]:
        in_working_memory = {event.event_id for _, event in working}
        units = {unit.unit_id: unit for unit in found.units}
        turns: dict[UUID, tuple[FoundTurn, frozenset[Route]]] = {}
        for turn in found.turns:
            # A turn may be indexed between the two statements; it is found once, as its unit.
            if turn.event_id not in units:
                turns[turn.event_id] = (turn, frozenset({Route.RAW_TURNS}))
        fresh = {event.event_id for _, event in working[-FRESH_TURNS:]}
        for session_id, event in working:
            if event.event_id in units:
                continue
            if event.event_id in turns:
                turn, routes = turns[event.event_id]
                turns[event.event_id] = (turn, routes | {Route.WORKING_MEMORY})
                continue
            score = self._keyword_score(search, found, event)
            if score > 0.0 or event.event_id in fresh:
                turn = FoundTurn(event.event_id, session_id, event.role, event.speaker, event.occurred_at, score)
                turns[event.event_id] = (turn, frozenset({Route.WORKING_MEMORY}))
        return (
            [
                (unit, unit.routes | {Route.WORKING_MEMORY} if unit_id in in_working_memory else unit.routes)
                for unit_id, unit in units.items()
            ],
            list(turns.values()),
        )

    def _keyword_score(self, search: Search, found: Found, event: Event) -> float:
        statistics = found.statistics
        keywords = self._hasher.keywords(search.scope.namespace_id, event.searchable_text)
        return bm25.score(search.terms, statistics.frequencies, statistics.units, keywords, statistics.average_length)

    def _pool(
        self,
        search: Search,
        units: Sequence[tuple[FoundUnit, frozenset[Route]]],
        turns: Sequence[tuple[FoundTurn, frozenset[Route]]],
        named: Sequence[str],
    ) -> Pool:
        namespace_id = search.scope.namespace_id
        # Speakers are in every turn around theirs, and have a term of their own.
        wanted = frozenset(search.entity_keys) - {self._reader.canonical_entity(name) for name in named}
        speakers = {turn.speaker: self._hasher.speaker(namespace_id, turn.speaker) for turn, _ in turns}
        user, unknown = int(UnitFlag.ROLE_USER), int(said_flags(FULL_LENGTH // 2))
        return Pool(
            keyword=np.array(
                [unit.keyword_score for unit, _ in units] + [turn.keyword_score for turn, _ in turns], dtype=np.float64
            ),
            vector=np.array(
                [np.nan if unit.similarity is None else unit.similarity for unit, _ in units] + [np.nan] * len(turns),
                dtype=np.float64,
            ),
            flags=np.array(
                [unit.flags for unit, _ in units]
                + [unknown | user * (turn.role is EventRole.USER) for turn, _ in turns],
                dtype=np.int64,
            ),
            speaker=np.array(
                [unit.speaker for unit, _ in units] + [speakers[turn.speaker] for turn, _ in turns], dtype=np.int64
            ),
            occurred_at=np.array(
                [unit.occurred_at.timestamp() for unit, _ in units]
                + [turn.occurred_at.timestamp() for turn, _ in turns],
                dtype=np.float64,
            ),
            voiced_by_user=np.array(
                [bool(unit.flags & user) or unit.memory_type in _OF_THE_USER for unit, _ in units]
                + [turn.role is EventRole.USER for turn, _ in turns],
                dtype=np.bool_,
            ),
            entity_share=np.array(
                [len(wanted.intersection(unit.entity_matches)) / max(len(wanted), 1) for unit, _ in units]
                + [0.0] * len(turns),
                dtype=np.float64,
            ),
        )

    def _features(self, found: Found, question: Question, pool: Pool, named: Sequence[str]) -> QueryFeatures:
        hashes: Mapping[str, int] = {name: number for number, name in found.statistics.speakers}
        return QueryFeatures(
            speakers=tuple({hashes[name] for name in named}),
            time_ranges=question.time_ranges,
            asks_when=question.asks_when,
            languages=language_flags(question.languages),
            both_languages=found.statistics.chinese_units > 0 and found.statistics.english_units > 0,
            role_matters=is_user_chat(pool),
            is_dialogue=question.is_dialogue,
        )


def score_parts(
    relevance_part: float,
    standing: Standing,
    profile: Profile,
    *,
    vector_similarity: float | None,
    keyword_score: float | None,
    fusion_terms: Mapping[str, float],
    rerank_score: float | None = None,
) -> ScoreParts:
    """Return the memory score of a candidate, with the figures behind its relevance."""
    score = memory_score(relevance_part, standing, profile)
    return ScoreParts(
        total=score.total,
        relevance=score.relevance,
        recency=score.recency,
        frequency=score.frequency,
        emotion=score.emotion,
        relevance_weight=profile.relevance,
        recency_weight=profile.recency,
        frequency_weight=profile.frequency,
        emotion_weight=profile.emotion,
        vector_similarity=vector_similarity,
        keyword_score=keyword_score,
        rerank_score=rerank_score,
        fusion_terms=fusion_terms,
    )


def _standing(unit: FoundUnit | None, turn: FoundTurn | None, now: datetime) -> Standing:
    if unit is None:
        return Standing(age=now - turn.occurred_at if turn else now - now)
    return Standing(
        age=now - unit.used_at,
        access_count=unit.access_count,
        intensity=unit.intensity,
        pinned=unit.pinned,
        priority=unit.priority,
    )
