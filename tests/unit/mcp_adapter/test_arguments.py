"""How arguments are checked, and what an agent is told of wrong ones."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rearview.domain.errors import FieldViolation, InvalidFields
from rearview.mcp_adapter.argument_names import by_arguments
from rearview.mcp_adapter.fields import MAX_VIOLATIONS
from rearview.mcp_adapter.tools import TOOLS


def problems(tool: str, arguments: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(InvalidFields) as refused:
        TOOLS[tool].read(arguments)
    return {one.field: one.description for one in refused.value.violations}


def test_all_mistakes_are_told_at_once() -> None:
    found = problems(
        "memory_write",
        {"contnt": "x", "type": "Explicite", "priority": "high", "entities": "Li Lei", "timestamp": "昨天"},
    )
    assert found["contnt"].startswith("is not known; did you mean 'content'?")
    assert found["content"].startswith("is required")
    assert found["type"].endswith("did you mean 'explicit'?")
    assert found["priority"] == "expected a number from 0 to 1, got text 'high'"
    assert found["entities"] == "expected a list, got text 'Li Lei'"
    assert found["timestamp"].startswith("expected an ISO 8601 time")


def test_a_field_of_a_group_is_shown_its_place() -> None:
    assert "belongs into time_range.start" in problems("memory_search", {"query": "x", "start": "2026-01-01"})["start"]
    assert "belongs into filters.labels" in problems("memory_search", {"query": "x", "labels": {}})["labels"]


@pytest.mark.parametrize("top_k", [0, 101, 2.5, "5", True])
def test_numbers_are_checked(top_k: object) -> None:
    expected = "expected a whole number from 1 to 100"
    assert problems("memory_search", {"query": "x", "top_k": top_k})["top_k"].startswith(expected)


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**5_000], ids=["large", "small", "not to be written"])
@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("priority", "expected a number from 0 to 1"),
        ("timestamp", "the number is ambiguous as Unix time"),
        ("type", "expected one of"),
        ("session", "expected text"),
    ],
)
def test_numbers_beyond_every_float_are_refused_like_others(field: str, told: str, number: int) -> None:
    found = problems("memory_write", {"content": "x", field: number})
    assert list(found) == [field]
    assert found[field].startswith(told)
    assert list(problems("memory_search", {"query": "x", "top_k": number})) == ["top_k"]


def test_nested_mistakes_are_told_with_their_path() -> None:
    turns = [{"role": "user", "content": "你好"}, {"role": "robot", "content": ""}, "hello"]
    found = problems("memory_append", {"session": "s", "turns": turns})
    assert set(found) == {"turns[1].role", "turns[1].content", "turns[2]"}


@pytest.mark.parametrize("labels", [{"project": "apollo"}, [{"key": "project", "value": "apollo"}]])
def test_labels_are_taken_as_pairs_or_as_an_object(labels: object) -> None:
    assert TOOLS["memory_write"].read({"content": "x", "labels": labels})["labels"] == {"project": "apollo"}


def test_null_stands_for_an_argument_that_was_not_given() -> None:
    assert TOOLS["memory_search"].read({"query": "x", "top_k": None, "filters": None}) == {"query": "x"}


def test_dates_and_times_without_offset_are_meant_in_the_callers_zone() -> None:
    span = {"start": "2026-08-15", "end": "2026-08-15T10:30:00"}
    read = TOOLS["memory_search"].read({"query": "x", "time_zone": "Asia/Shanghai", "time_range": span})
    assert read["time_range"]["start"] == datetime(2026, 8, 14, 16, tzinfo=UTC)
    assert read["time_range"]["end"] == datetime(2026, 8, 15, 2, 30, tzinfo=UTC)
    assert "IANA" in problems("memory_search", {"query": "x", "time_zone": "Peking"})["time_zone"]


def test_there_is_an_end_to_what_is_told() -> None:
    assert len(problems("memory_search", {f"x{number}": 1 for number in range(1000)})) == MAX_VIOLATIONS


@pytest.mark.parametrize(
    ("tool", "field", "named"),
    [
        ("memory_search", "filter.end_time", "time_range.end"),
        ("memory_search", "filter.labels", "filters.labels"),
        ("memory_search", "parent", "namespace"),
        ("memory_write", "memory.labels", "labels"),
        ("memory_write", "memory.occurred_at", "timestamp"),
        ("memory_update", "memory.name", "memory"),
        ("memory_append", "events[3].occurred_at", "turns[3].timestamp"),
        ("memory_append", "events[0].content", "turns[0].content"),
        ("memory_context", "context_token_budget", "max_tokens"),
        ("memory_explain", "name", "trace"),
        # No tool has these.
        ("memory_write", "memory.version", "memory.version"),
        ("memory_explain", "filter.end_time", "filter.end_time"),
    ],
)
def test_what_the_gateway_refuses_has_the_name_that_the_tool_gives_it(tool: str, field: str, named: str) -> None:
    told = by_arguments(InvalidFields(FieldViolation(field, "is wrong")), TOOLS[tool].takes)
    assert [(one.field, one.description) for one in told.violations] == [(named, "is wrong")]
