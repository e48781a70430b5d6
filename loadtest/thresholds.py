"""What a run must keep to, and whether it did."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

THRESHOLDS = Path(__file__).parent / "thresholds.yaml"
EVERY_OTHER = "*"


class Threshold(BaseModel):
    """The limits of one call; what is None is not limited."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_failure_ratio: Annotated[float, Field(ge=0, le=1)] = 0.0
    min_calls: Annotated[int, Field(ge=0)] = 0
    p95_ms: Annotated[float, Field(gt=0)] | None = None
    p99_ms: Annotated[float, Field(gt=0)] | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run showed of one call; times in milliseconds, None where none succeeded or failed."""

    name: str
    calls: int
    failures: int
    p95_ms: float | None
    p99_ms: float | None


def thresholds(path: Path, scenario: str) -> Mapping[str, Threshold]:
    """Return a scenario's limits by the names of the calls; none where the file does not name the scenario.

    Raises:
        OSError: there is no such file.
        ValidationError: it is not as thresholds.yaml says.
    """
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, dict[str, Threshold]]).validate_python(content).get(scenario, {})


def broken(limits: Mapping[str, Threshold], measured: Sequence[Measured]) -> list[str]:
    """Return a line for each limit that was not kept; a call that is named and never made breaks `min_calls`."""
    made = {one.name: one for one in measured}
    named = [name for name in limits if name != EVERY_OTHER and name not in made]
    never = [Measured(name, 0, 0, None, None) for name in named]
    lines = [] if measured or not limits else ["no call was made"]
    for one in (*measured, *never):
        limit = limits.get(one.name, limits.get(EVERY_OTHER))
        if limit is not None:
            lines.extend(f"{one.name}: {reason}" for reason in _reasons(limit, one))
    return lines


def _reasons(limit: Threshold, one: Measured) -> Iterator[str]:
    if one.calls < limit.min_calls:
        yield f"{one.calls} calls, fewer than {limit.min_calls}"
    if one.calls and one.failures / one.calls > limit.max_failure_ratio:
        yield f"{one.failures} of {one.calls} calls failed, more than {limit.max_failure_ratio:.1%}"
    for name, most, taken in (("p95", limit.p95_ms, one.p95_ms), ("p99", limit.p99_ms, one.p99_ms)):
        if most is not None and taken is not None and taken > most:
            yield f"{name} {taken:.0f} ms, over {most:.0f} ms"
