"""Whether a run kept to its limits."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from loadtest.thresholds import THRESHOLDS, Measured, Threshold, broken, thresholds

GOOD = Measured("Recall fresh", calls=200, failures=1, p95_ms=40.0, p99_ms=90.0)


def test_a_run_within_its_limits_breaks_none() -> None:
    limits = {"Recall fresh": Threshold(max_failure_ratio=0.005, min_calls=200, p95_ms=40, p99_ms=90)}
    assert broken(limits, [GOOD]) == []
    assert broken({}, [GOOD]) == []


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        (Threshold(max_failure_ratio=0.0), "Recall fresh: 1 of 200 calls failed, more than 0.0%"),
        (Threshold(max_failure_ratio=1, min_calls=201), "Recall fresh: 200 calls, fewer than 201"),
        (Threshold(max_failure_ratio=1, p95_ms=39), "Recall fresh: p95 40 ms, over 39 ms"),
        (Threshold(max_failure_ratio=1, p99_ms=89), "Recall fresh: p99 90 ms, over 89 ms"),
    ],
)
def test_each_limit_is_named_when_it_breaks(limit: Threshold, line: str) -> None:
    assert broken({"*": limit}, [GOOD]) == [line]


def test_a_line_of_its_own_goes_before_the_star() -> None:
    limits = {"*": Threshold(), "Recall fresh": Threshold(max_failure_ratio=0.5)}
    assert broken(limits, [GOOD]) == []


def test_what_was_never_called_breaks_its_least_number() -> None:
    limits = {"*": Threshold(), "Forget": Threshold(min_calls=1)}
    assert broken(limits, [Measured("Recall fresh", 10, 0, 1.0, 1.0)]) == ["Forget: 0 calls, fewer than 1"]
    assert broken({"*": Threshold()}, []) == ["no call was made"]


def test_the_shipped_limits_are_of_scenarios_that_there_are() -> None:
    scenarios = yaml.safe_load((THRESHOLDS.parent / "scenarios.yaml").read_text(encoding="utf-8"))
    limited = yaml.safe_load(THRESHOLDS.read_text(encoding="utf-8"))
    assert set(limited) == set(scenarios)
    for name in scenarios:
        assert thresholds(THRESHOLDS, name)["*"].max_failure_ratio <= 0.01


@pytest.mark.parametrize("content", ["smoke: {a: {p95: 1}}", "smoke: {a: {p95_ms: 0}}", "smoke: 3", "[]"])
def test_a_file_that_says_something_else_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "limits.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValidationError):
        thresholds(path, "smoke")
