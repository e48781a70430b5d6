"""How a run went: what was asked, what was answered, what was wrong."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

PROGRESS_EVERY = 1_000
MOST_SHOWN_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One input, what was answered, and what is wrong with that, if anything."""

    number: int
    answer: str
    fault: str
    request: str


@dataclass
class Tally:
    """Counts answers and keeps faults, each with what brings it back."""

    seed: str
    answers: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    _begun: float = field(default_factory=time.monotonic)

    def note(self, asked: Asked, *, of: str) -> None:
        """Count one answer of a method or tool; keep what is wrong with it, with what brings it back."""
        self.answers[asked.answer] += 1
        if asked.fault:
            request = asked.request[:MOST_SHOWN_CHARACTERS]
            self.faults.append(f"{of} seed={self.seed} number={asked.number}: {asked.fault}\n{request}")
        if self.answers.total() % PROGRESS_EVERY == 0:
            sys.stderr.write(f"\n{self.line()}\n")

    def line(self) -> str:
        """Return the run in one line of JSON."""
        return json.dumps(
            {
                "inputs": self.answers.total(),
                "faults": len(self.faults),
                "seed": self.seed,
                "seconds": round(time.monotonic() - self._begun),
                "answers": dict(self.answers.most_common()),
            }
        )

    def write(self, path: Path) -> None:
        """Leave the line in a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.line() + "\n", encoding="utf-8")
