"""The candidates of all namespaces in one order."""

from collections.abc import Sequence
from dataclasses import dataclass

from rearview.domain.recall import Route
from rearview.retriever.candidates import Candidate, Scored


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was scored in each namespace; `newest` are candidates behind all of that."""

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

    def route_counts(self) -> dict[Route, int]:
        """Return how many candidates each route found."""
        counts = [one.route_counts() for one in self.scored]
        return {route: sum(one[route] for one in counts) for route in Route}
