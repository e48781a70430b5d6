"""Items of an agent's session as turns: what is searched, and how many go into one append."""

from typing import Any

import pytest

from rearview.client import Turn
from rearview.client.openai_agents.items import turn_of
from rearview.client.openai_agents.session import _appends
from rearview.domain.event import MAX_APPEND_BYTES, MAX_EVENTS_PER_APPEND


@pytest.mark.parametrize(
    ("item", "role", "text"),
    [
        ({"role": "user", "content": "你好"}, "user", "你好"),
        ({"role": "developer", "content": "Be brief."}, "system", "Be brief."),
        ({"role": "user", "content": [{"type": "input_text", "text": t} for t in ("a", "乙")]}, "user", "a\n乙"),
        ({"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}, "user", "[message]"),
        ({"type": "reasoning", "summary": [{"text": "hm"}]}, "system", "[reasoning]"),
    ],
)
def test_what_was_said_is_the_text_of_the_turn(item: dict[str, Any], role: str, text: str) -> None:
    turn = turn_of(item, "items[0]", {})
    assert (turn.role, turn.content) == (role, text)


def test_an_output_is_the_result_of_the_tool_that_was_called() -> None:
    called: dict[str, str] = {}
    call = turn_of({"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'}, "items[0]", called)
    output = turn_of({"type": "function_call_output", "call_id": "c", "output": "两个"}, "items[1]", called)
    assert call.tool_call is not None
    assert (call.tool_call.tool, call.tool_call.arguments, call.tool_call.call_id) == ("f", {"a": 1}, "c")
    assert output.tool_call is not None
    assert (output.tool_call.tool, output.tool_call.result, output.tool_call.call_id) == ("f", "两个", "c")
    assert "两个" not in str(output.metadata), "kept once"


def test_turns_are_parted_by_number_and_by_size_in_order() -> None:
    short = [Turn("user", str(number)) for number in range(2 * MAX_EVENTS_PER_APPEND + 1)]
    assert [len(part) for part in _appends(short)] == [MAX_EVENTS_PER_APPEND, MAX_EVENTS_PER_APPEND, 1]
    long = [Turn("user", "长" * 30_000) for _ in range(30)]
    parts = _appends([*long, *short[:3]])
    assert [turn for part in parts for turn in part] == [*long, *short[:3]]
    assert len(parts) == 3
    assert all(sum(len(turn.content.encode()) for turn in part) <= MAX_APPEND_BYTES for part in parts)
    assert _appends([]) == []
