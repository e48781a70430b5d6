"""What a recall did, step by step, and the trace made of it."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from rearview.domain.principal import Scope
from rearview.domain.recall import RecallTrace, TraceCandidate
from rearview.domain.relevance import RANKER_VERSION
from rearview.ports.recall_store import Found
from rearview.retriever.answer import BELOW_TOP_K, GONE, Selection
from rearview.retriever.candidates import Candidate
from rearview.retriever.question import Question
from rearview.retriever.ranking import Ranking

NEAR_MISSES = 25
"""A trace tells of all whose content was read, and of so many of those that came next."""


class Course:
    """The course of one recall, noted while it runs."""

    def __init__(self, trace_id: UUID, at: datetime) -> None:
        self.trace_id = trace_id
        self.at = at
        self.degraded: list[str] = []
        self.plan = ""
        self._milliseconds: dict[str, float] = {}
        self._lap_began = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Note that a stage has ended."""
        now = time.perf_counter()
        self._milliseconds[stage] = round((now - self._lap_began) * 1000.0, 3)
        self._lap_began = now

    def passed(self, stage: str) -> bool:
        """Return whether a stage has ended."""
        return stage in self._milliseconds

    def degrade(self, part: str) -> None:
        """Note that a part was left out."""
        if part not in self.degraded:
            self.degraded.append(part)

    def trace(
        self,
        query: str,
        question: Question,
        scopes: Sequence[Scope],
        found: Sequence[Found],
        ranking: Ranking,
        shortlist: Sequence[Candidate],
        selection: Selection,
    ) -> RecallTrace:
        """Return the trace. `query` has been redacted; of the question only what says nothing of its text is kept."""
        return RecallTrace(
            trace_id=self.trace_id,
            query=query,
            namespaces=tuple(scope.namespace for scope in scopes),
            at=self.at,
            understanding=_understanding(question, found),
            route_counts={route.name.lower(): count for route, count in ranking.route_counts().items()},
            candidates=_traced(
                _looked_at(ranking, shortlist), frozenset(one.resource_id for one in shortlist), selection
            ),
            degraded=tuple(self.degraded),
            stage_milliseconds=dict(self._milliseconds),
            plan=self.plan,
        )


def _understanding(question: Question, found: Sequence[Found]) -> dict[str, str]:
    scans = {one.exact_vectors for one in found} - {None}
    return {
        "languages": ",".join(sorted(question.languages)),
        "entities": str(len(question.entity_keys)),
        "time_ranges": ",".join(
            f"{time_range.start.isoformat()}/{time_range.end.isoformat()}" for time_range in question.time_ranges
        ),
        "question_type": question.question_type,
        "asks_when": "yes" if question.asks_when else "no",
        "profile": question.profile.name,
        "ranker_version": RANKER_VERSION,
        "vector_scan": ",".join(sorted("exact" if scan else "index" for scan in scans)),
    }


def _looked_at(ranking: Ranking, shortlist: Sequence[Candidate]) -> list[Candidate]:
    newest = {candidate.resource_id for candidate in ranking.newest}
    best = ranking.best(len(shortlist) + NEAR_MISSES)
    ranked = {one.resource_id: one for one in (*shortlist, *best) if one.resource_id not in newest}
    return ranking.with_newest(list(ranked.values()))


def _traced(
    candidates: Sequence[Candidate], shortlisted: frozenset[UUID], selection: Selection
) -> tuple[TraceCandidate, ...]:
    ranks = {
        candidate.resource_id: rank for rank, group in enumerate(selection.groups, 1) for candidate in group.candidates
    }
    scores: Mapping[UUID, Candidate] = {
        candidate.resource_id: candidate for group in selection.groups for candidate in group.candidates
    }

    def reason(candidate: Candidate) -> str:
        if candidate.resource_id in ranks:
            return ""
        if candidate.resource_id in selection.dropped:
            return selection.dropped[candidate.resource_id]
        return GONE if candidate.resource_id in shortlisted else BELOW_TOP_K

    return tuple(
        TraceCandidate(
            resource_name=candidate.resource_name,
            routes=candidate.routes,
            score=scores.get(candidate.resource_id, candidate).score,
            rank=ranks.get(candidate.resource_id, 0),
            dropped_because=reason(candidate),
        )
        for candidate in candidates
    )
