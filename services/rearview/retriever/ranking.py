"""The candidates of all namespaces in one order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rearview.domain.event import Event
from rearview.domain.recall import Route
from rearview.ports.recall_store import Found, Search
from rearview.retriever.candidates import Candidate, CandidateScorer
from rearview.retriever.question import Question


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best candidates, best first, and how many of all each route found."""

    candidates: Sequence[Candidate]
    route_counts: Mapping[Route, int]


def ranked(
    scorer: CandidateScorer,
    searches: Sequence[Search],
    found: Sequence[Found],
    working: Sequence[tuple[str, Event]],
    question: Question,
    limit: int | None,
) -> Ranking:
    """Return the best `limit` candidates (None: all). `working` belongs to the first namespace."""
    scored = [
        scorer.score(search, one, working if at == 0 else (), question, limit)
        for at, (search, one) in enumerate(zip(searches, found, strict=True))
    ]
    counts = {route: sum(one.route_counts.get(route, 0) for one in scored) for route in Route}
    if len(scored) == 1:
        return Ranking(scored[0].candidates, counts)
    merged = sorted(
        (candidate for one in scored for candidate in one.candidates),
        key=lambda candidate: (-candidate.score.total, candidate.resource_id),
    )
    return Ranking(merged[:limit], counts)
