"""The report of a run: Markdown for people, one JSON object for machines."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.soak.checker import Violation
from tests.support.soak.faults import Fault

MOST_GROWTH = 0.10
MOST_RECOVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Happened:
    """A fault, when it began and was over, and how long after that recall was as before; None if it was not in time
    for the next fault."""

    fault: Fault
    begun: float
    ended: float
    recovery_seconds: float | None


@dataclass
class Report:
    """Everything that a run showed."""

    seed: int
    minutes: float
    left_out: Sequence[str]
    happened: Sequence[Happened]
    violations: Sequence[Violation]
    wrong: Sequence[str]
    calls: Counter[str]
    errors: Counter[str]
    counts: Mapping[str, int]
    normal_p95_seconds: float
    quiet_p95_seconds: float
    growth: Mapping[str, tuple[float, float, float]]
    kinds: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = Counter(violation.kind for violation in self.violations)

    @property
    def slow_to_recover(self) -> list[Happened]:
        return [
            one for one in self.happened if one.recovery_seconds is None or one.recovery_seconds > MOST_RECOVERY_SECONDS
        ]

    @property
    def internal_errors(self) -> int:
        return sum(count for name, count in self.errors.items() if name.endswith("InternalError"))

    @property
    def sound(self) -> bool:
        """Nothing lost, resurrected, doubled or leaked, nothing left undone, and no error that is a bug."""
        return not self.violations and not self.wrong and not self.internal_errors

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "minutes": self.minutes,
            "sound": self.sound,
            "calls": sum(self.calls.values()),
            "faults": len(self.happened),
            "left_out": list(self.left_out),
            "violations": dict(self.kinds),
            "wrong": list(self.wrong),
            "internal_errors": self.internal_errors,
            "errors": dict(self.errors),
            "normal_p95_ms": round(self.normal_p95_seconds * 1000),
            "quiet_p95_ms": round(self.quiet_p95_seconds * 1000),
            "slow_to_recover": [str(one.fault) for one in self.slow_to_recover],
            "growth": {name: round(share, 3) for name, (_, _, share) in self.growth.items()},
            "not_flat": sorted(name for name, (_, _, share) in self.growth.items() if share > MOST_GROWTH),
        }

    def as_markdown(self) -> str:
        parts = [
            f"# Soak of {self.minutes:g} minutes, seed {self.seed}",
            f"{platform.machine()}, {os.cpu_count()} cores. "
            f"{sum(self.calls.values())} calls, {len(self.happened)} faults. "
            + (f"Left out: {'; '.join(self.left_out)}. " if self.left_out else "")
            + ("**Sound.**" if self.sound else "**Not sound.**"),
            "## What clients saw",
            "\n\n".join(f"```\n{violation}\n```" for violation in self.violations[:20])
            or "Nothing that a sequential memory could not have shown.",
            "## At the end",
            "\n".join(f"- {what}" for what in self.wrong) or "All work was done, and all receipts were verified.",
            _table(("count", ""), sorted((name, str(count)) for name, count in self.counts.items())),
            "## Faults",
            f"Recall, p95: {self.normal_p95_seconds * 1000:.0f} ms before the first fault, "
            f"{self.quiet_p95_seconds * 1000:.0f} ms after the last. {len(self.slow_to_recover)} of "
            f"{len(self.happened)} were followed by more than {MOST_RECOVERY_SECONDS:.0f} s of slower recalls.",
            _table(
                ("at", "fault", "s until p95 was normal"),
                [(f"{one.begun:.0f}", str(one.fault), _seconds(one.recovery_seconds)) for one in self.happened],
            ),
            "## Memory, after the last fault",
            _table(
                ("process", "MiB after warm-up", "MiB at the end", "growth"),
                [
                    (name, f"{first:.0f}", f"{last:.0f}", f"{share:+.1%}")
                    for name, (first, last, share) in sorted(self.growth.items())
                ],
            ),
            "## Calls",
            _table(("method", "calls"), sorted((name, str(count)) for name, count in self.calls.items())),
            _table(("failed attempts", ""), sorted((name, str(count)) for name, count in self.errors.items())),
        ]
        return "\n\n".join(parts) + "\n"


def _seconds(value: float | None) -> str:
    return "not before the next fault" if value is None else f"{value:.1f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
