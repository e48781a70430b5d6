"""What is published of the tools: strict, and within what model providers accept."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from rearview.domain.errors import InvalidFields
from rearview.mcp_adapter.tool import Tool
from rearview.mcp_adapter.tools import TOOLS

EXPECTED_TOOLS = {
    "memory_write",
    "memory_search",
    "memory_update",
    "memory_forget",
    "memory_append",
    "memory_context",
    "memory_explain",
}
# The common ground of OpenAI's, Anthropic's and Google's function schemas.
PORTABLE = {"type", "description", "properties", "required", "items", "enum", "additionalProperties"}
EXAMPLE = re.compile(r"Example: (\{.*?\})(?:\.|$)(?=\s|$)")
EVERY_TOOL = pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for one in schema.get("properties", {}).values():
        yield from parts(one)
    if "items" in schema:
        yield from parts(schema["items"])


def test_the_tools_are_those_of_the_documents() -> None:
    assert set(TOOLS) == EXPECTED_TOOLS


@EVERY_TOOL
def test_input_schemas_are_strict_and_portable(tool: Tool) -> None:
    schema = tool.published().input_schema
    assert schema["type"] == "object"
    for part in parts(schema):
        assert part.keys() <= PORTABLE
        assert isinstance(part["type"], str)
        if part["type"] == "object":
            assert part["additionalProperties"] is False
            assert set(part["required"]) <= set(part["properties"])
        if part["type"] == "array":
            assert "items" in part


@EVERY_TOOL
def test_every_argument_is_described(tool: Tool) -> None:
    for name, one in tool.published().input_schema["properties"].items():
        assert one["description"], name


@EVERY_TOOL
def test_the_example_of_each_tool_is_accepted(tool: Tool) -> None:
    found = EXAMPLE.search(tool.description)
    assert found is not None
    assert tool.read(json.loads(found[1]))


@EVERY_TOOL
def test_arguments_that_are_not_known_are_refused(tool: Tool) -> None:
    with pytest.raises(InvalidFields, match="no_such_argument: is not known"):
        tool.read({"no_such_argument": 1})


def test_annotations_say_what_a_tool_does() -> None:
    hints = {name: tool.published().annotations for name, tool in TOOLS.items()}
    reading = {name for name, one in hints.items() if one and one.read_only_hint}
    assert reading == {"memory_search", "memory_context", "memory_explain"}
    assert {name for name, one in hints.items() if one and one.destructive_hint} == {"memory_update", "memory_forget"}
    assert {name for name, one in hints.items() if one and not one.idempotent_hint} == {"memory_append"}
    assert all(one and one.open_world_hint is False for one in hints.values())


def test_required_arguments_are_those_without_which_a_call_means_nothing() -> None:
    required = {name: tool.published().input_schema["required"] for name, tool in TOOLS.items()}
    assert required == {
        "memory_write": ["content"],
        "memory_search": ["query"],
        "memory_update": ["memory"],
        "memory_forget": [],
        "memory_append": ["session", "turns"],
        "memory_context": ["query"],
        "memory_explain": [],
    }
