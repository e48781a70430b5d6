"""What became of the lines of an import."""

from dataclasses import dataclass, field

from rearview.domain.errors import InvalidFields

MOST_PROBLEMS = 100


@dataclass(slots=True)
class Tally:
    """Counts of one call; `lines` and `complete` are of the whole import."""

    lines: int = 0
    complete: bool = False
    stored: int = 0
    unchanged: int = 0
    refused: int = 0
    expired: int = 0
    stored_events: int = 0
    unchanged_events: int = 0
    refused_events: int = 0
    carried_vectors: int = 0
    made_vectors: int = 0
    redacted: int = 0
    superseded: int = 0
    problem_count: int = 0
    problems: list[str] = field(default_factory=list)

    def wrong(self, number: int, error: InvalidFields) -> None:
        """Note a line of which nothing is stored."""
        self.problem_count += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(f"line {number}: {error.message}")

    def add(self, other: "Tally") -> None:
        """Take in what became of a batch."""
        for name in self.__slots__:
            if name not in ("lines", "complete", "problems"):
                setattr(self, name, getattr(self, name) + getattr(other, name))
        self.problems.extend(other.problems[: MOST_PROBLEMS - len(self.problems)])
