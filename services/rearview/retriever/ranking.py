"""The candidates of all namespaces in one order."""

from collections.abc import Sequence
from dataclasses import dataclass

from rearview.domain.recall import Route
from rearview.retriever.candidates import Candidate, Scored


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was scored in each namespace; `newest` are candidates whatever their rank."""

    scored: Sequence[Scored]
    newest: Sequence[Candidate] = ()

    def best(self, limit: int | None) -> list[Candidate]:
        """Return the best `limit` candidates (None: all), best first; equal ones in the order of their ids."""
        if len(self.scored) == 1:
            return self.scored[0].best(limit)
        merged = sorted(
            (candidate for one in self.scored for candidate in one.best(limit)),
            key=lambda candidate: (-candidate.score.total, candidate.resource_id),
        )
        return merged[:limit]

    def with_newest(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates, and behind them those of the `newest` that are not among them."""
        present = {candidate.resource_id for candidate in candidates}
        return [*candidates, *(one for one in self.newest if one.resource_id not in present)]

    def route_counts(self) -> dict[Route, int]:
        """Return how many candidates each route found."""
        counts = [one.route_counts() for one in self.scored]
        return {route: sum(one[route] for one in counts) for route in Route}
