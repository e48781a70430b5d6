"""Ranking by what is known only once the shortlist's texts are read; costs nothing where a query names nothing."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from rearview.domain.own_text import (
    IDENTIFIER_WEIGHT,
    NAME_WEIGHT,
    RANGE_WEIGHT,
    explicit_ranges,
    lowered,
    set_below,
    share_held,
    share_inside,
)
from rearview.domain.recall import ScoreParts
from rearview.domain.text import TimeRange
from rearview.ports.query_reader import QueryReader
from rearview.ports.query_understander import QuestionType
from rearview.retriever.answer import Content
from rearview.retriever.candidates import Candidate
from rearview.retriever.question import Question

SPARE = 16
"""So many more are loaded than were asked for, to take the place of repeated or meanwhile forgotten ones."""

SPARE_TO_READ = 64
"""The same where the texts decide: what names an order number may stand behind all that surrounds others."""

FEW_NAMED = 3
"""A name that more of the shortlist hold is everybody's subject, and its translation as good an answer."""

Ranked = list[tuple[Candidate, Content]]


class OwnTextStage:
    """Lowers, of a shortlist, what lacks the identifiers, names or times that a query names, and what is outdated."""

    def __init__(self, reader: QueryReader) -> None:
        self._reader = reader

    def spare(self, question: Question) -> int:
        """Return how many more candidates than asked for are to be read."""
        return SPARE_TO_READ if question.identifiers or _ranges(question) else SPARE

    def apply(self, ranked: Ranked, question: Question) -> Ranked:
        """Return the candidates in their new order."""
        ranked = self._by_text(ranked, question)
        ranges = _ranges(question)
        if not question.asks_past:
            ranked = _by_validity(ranked, ranges)
        return sorted(ranked, key=lambda pair: -pair[0].score.total)

    def _by_text(self, ranked: Ranked, question: Question) -> Ranked:
        ranges = _ranges(question)
        if not (question.identifiers or question.names or ranges):
            return ranked
        texts = [self._reader.folded(content.text) for _, content in ranked]
        speakers = {self._reader.folded(event.speaker) for _, content in ranked for _, event in content.turns}
        # A speaker stands in every turn of theirs, and has a term in the fusion.
        asked = question.names if question.question_type != QuestionType.STATEMENT else ()
        names = [name for name in asked if not speakers.intersection({name, name.split(" ")[0]})]
        ranked = _lower(ranked, "identifier", IDENTIFIER_WEIGHT, [share_held(t, question.identifiers) for t in texts])
        named = [share_held(text, names) for text in texts]
        common = sum(share > 0.0 for share in named) > FEW_NAMED
        best = 0.0 if common else max(named, default=0.0)
        ranked = _lower(
            ranked,
            "name",
            NAME_WEIGHT,
            [
                min(share, best) if _is_foreign(candidate, question) else best
                for (candidate, _), share in zip(ranked, named, strict=True)
            ],
        )
        if not ranges:
            return ranked
        return _lower(ranked, "range", RANGE_WEIGHT, [self._inside(c, question, ranges) for _, c in ranked])

    def _inside(self, content: Content, question: Question, ranges: Sequence[TimeRange]) -> float:
        if content.turns and (content.is_turn or content.memory is None):
            occurred_at = content.turns[0][1].occurred_at
        else:
            assert content.memory is not None  # noqa: S101 - what has no turn has a memory
            occurred_at = content.memory.occurred_at
        said_at = occurred_at.astimezone(question.asked_at.tzinfo)
        return share_inside(occurred_at, self._reader.times(content.text, reference=said_at), ranges)


def _is_foreign(candidate: Candidate, question: Question) -> bool:
    return bool(candidate.languages) and candidate.languages.isdisjoint(question.languages)


def _ranges(question: Question) -> tuple[TimeRange, ...]:
    # A statement's time is that of what it tells, and not of when its like was told.
    if question.question_type == QuestionType.STATEMENT:
        return ()
    return explicit_ranges(question.time_ranges, question.asked_at)


def _lower(ranked: Ranked, term: str, weight: float, shares: Sequence[float]) -> Ranked:
    best = max(shares, default=0.0)
    return [
        (_with_score(candidate, lowered(candidate.score, term, weight * (best - share))), content)
        for (candidate, content), share in zip(ranked, shares, strict=True)
    ]


def _by_validity(ranked: Ranked, ranges: Sequence[TimeRange]) -> Ranked:
    if not any(content.successors for _, content in ranked):
        return ranked
    holding: dict[UUID, ScoreParts] = {}
    for candidate, content in ranked:
        if candidate.unit is not None and not content.successors:
            holding[candidate.unit.unit_id] = candidate.score
    return [
        (_behind_successors(candidate, content, holding, ranges), content)
        if content.successors
        else (candidate, content)
        for candidate, content in ranked
    ]


def _behind_successors(
    candidate: Candidate, content: Content, holding: dict[UUID, ScoreParts], ranges: Sequence[TimeRange]
) -> Candidate:
    found = [holding[one] for one in content.successors if one in holding]
    asked_of_then = any(one.contains(content.turns[0][1].occurred_at) for one in ranges)
    if not found or asked_of_then:
        return candidate
    best = max(found, key=lambda score: score.total)
    return _with_score(candidate, set_below(candidate.score, best, "outdated"))


def _with_score(candidate: Candidate, score: ScoreParts) -> Candidate:
    return candidate if score is candidate.score else replace(candidate, score=score)
