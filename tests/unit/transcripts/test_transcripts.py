"""Transcripts of other tools, read into turns."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from rearview.client import ToolCall, Turn
from rearview.client.transcripts import Said, read_transcript

Read = Callable[..., list[Said]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write content to a file and read it as a transcript."""

    def reading(content: object, name: str = "my chat.json", **options: str) -> list[Said]:
        file = tmp_path / name
        if isinstance(content, bytes):
            file.write_bytes(content)
        elif name.endswith(".jsonl"):
            assert isinstance(content, list)
            file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in content), encoding="utf-8")
        else:
            file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return list(read_transcript(file, **options))

    return reading


def plain(said: list[Said]) -> list[tuple[str, str, str]]:
    return [(one.session, one.turn.role, one.turn.content) for one in said]


OPENAI = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "我的订单到哪了？"}, {"type": "image_url", "image_url": {}}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "track", "arguments": '{"order": "A-1"}'}},
            {"id": "c2", "type": "function", "function": {"name": "refund", "arguments": "not json"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "in transit"},
    {"role": "assistant", "content": "On its way 在路上."},
]


def test_openai_messages_and_their_tool_calls(read: Read) -> None:
    said = read({"messages": OPENAI})
    assert plain(said) == [
        ("my-chat", "system", "Be brief."),
        ("my-chat", "user", "我的订单到哪了？"),
        ("my-chat", "tool", ""),
        ("my-chat", "assistant", "On its way 在路上."),
        ("my-chat", "tool", ""),
    ]
    assert said[2].turn.tool_call == ToolCall("track", "in transit", {"order": "A-1"}, "c1")
    assert said[4].turn.tool_call == ToolCall("refund", "", {"text": "not json"}, "c2")
    assert plain(read(OPENAI)) == plain(said)


def test_anthropic_messages_and_their_blocks(read: Read) -> None:
    said = read(
        {
            "system": [{"type": "text", "text": "Be kind."}],
            "messages": [
                {"role": "user", "content": "天气怎么样？"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hidden"},
                        {"type": "text", "text": "Let me look."},
                        {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "上海"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "content": [{"type": "text", "text": "no such city"}],
                            "is_error": True,
                        },
                        {"type": "text", "text": "Any luck?"},
                    ],
                },
            ],
        }
    )
    assert plain(said) == [
        ("my-chat", "system", "Be kind."),
        ("my-chat", "user", "天气怎么样？"),
        ("my-chat", "assistant", "Let me look."),
        ("my-chat", "tool", ""),
        ("my-chat", "user", "Any luck?"),
    ]
    assert said[3].turn.tool_call == ToolCall("weather", "no such city", {"city": "上海"}, "t1", failed=True)


def test_sharegpt_has_a_session_for_each_conversation(read: Read) -> None:
    turns = [{"from": "human", "value": "你好，我叫小王。"}, {"from": "gpt", "value": "Hello 小王!"}]
    said = read([{"id": "abc 1", "conversations": turns}, {"conversations": turns}], "export.json")
    assert [(one.session, one.turn.role) for one in said] == [
        ("abc-1", "user"),
        ("abc-1", "assistant"),
        ("export-2", "user"),
        ("export-2", "assistant"),
    ]


def test_lines_are_messages_or_conversations(read: Read) -> None:
    said = read(
        [
            {"session": "s1", "role": "user", "content": "一", "occurred_at": "2026-03-01T09:30:00+08:00"},
            {"session": "s2", "role": "user", "content": "two", "timestamp": 1_772_000_000, "speaker": "Ann"},
            {
                "session": "s1",
                "role": "assistant",
                "content": "three",
                "created_at": "2026-03-01",
                "metadata": {"a": 1},
            },
            {"messages": [{"role": "user", "content": "four"}]},
        ],
        "log.jsonl",
    )
    assert plain(said) == [
        ("s1", "user", "一"),
        ("s2", "user", "two"),
        ("s1", "assistant", "three"),
        ("log", "user", "four"),
    ]
    assert said[0].turn.occurred_at == datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=8)))
    assert said[1].turn.occurred_at == datetime.fromtimestamp(1_772_000_000, UTC)
    assert said[1].turn.speaker == "Ann"
    assert said[2].turn.occurred_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert said[2].turn.metadata == {"a": 1}


def test_turns_have_the_same_ids_at_every_reading_and_no_two_share_one(read: Read) -> None:
    rows = [{"role": "user", "content": "好"}] * 3 + [{"role": "user", "content": "好", "session": "else"}]
    first, second = read(rows, "a.jsonl"), read(rows, "a.jsonl")
    assert first == second
    assert len({one.turn.event_id for one in first}) == 4
    assert read([{"role": "user", "content": "x", "event_id": "given"}])[0].turn == Turn("user", "x", event_id="given")


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        ([{"role": "narrator", "content": "x"}], "a.json", r"a\.json\[0\]\.role: 'narrator' is none of"),
        ([{"role": "user", "content": 7}], "a.json", r"a\.json\[0\]: content must be a text or a list of parts"),
        ([{"role": "user", "content": [{"type": "hologram"}]}], "a.json", r"content\[0\]: a part of type 'hologram'"),
        (["hello"], "a.jsonl", r"a\.jsonl:1: expected an object, not str"),
        ([{"role": "user", "content": "x", "time": "gestern"}], "a.json", r"time: 'gestern' is neither"),
        ([{"role": "user", "content": "x", "metadata": "m"}], "a.json", r"metadata: must be an object"),
        ({"text": "x"}, "a.json", r"expected a list of messages"),
        (b'{"role": "user", "content": "x"}\n{"role"', "a.jsonl", r"a\.jsonl:2: not JSON"),
        (
            [{"role": "user", "contents": "我叫李雷"}],
            "a.json",
            r"a\.json\[0\]\.content: is missing; known are role",
        ),
        (b'{"role": "user", "content": "\xff"}', "a.jsonl", r"not UTF-8"),
        (b"[" * 100_000, "a.json", r"nested too deep|not JSON"),
        (b'{"role": "user", "content": "x"}\n{"role": "user", "content": "y"}', "a.json", r"is it JSON Lines\?"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(read: Read, content: object, name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read(content, name)


def test_an_unknown_format_is_refused(read: Read) -> None:
    with pytest.raises(ValueError, match="'xml' is none of auto, jsonl"):
        read([], format="xml")
