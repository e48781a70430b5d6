"""The session of the OpenAI Agents SDK keeps its items as they are, over the whole stack, and they become memories."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.items import TResponseInputItem
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from rearview.client import AsyncClient, Client
from rearview.client.openai_agents import RearviewSession
from rearview.domain.errors import InvalidFields
from rearview.embedded.endpoints import Endpoints
from tests.acceptance.conftest import CALL_TIMEOUT_SECONDS
from tests.support.client_steps import eventually, indexed, namespace_of, refused, texts_of

ARGUMENTS = '{"city":  "京都",\n "days": 3, "max": 1e3, "note": "say \\"hi\\""}'
ITEMS: list[Any] = [
    {"role": "user", "content": "我下周去京都，帮我查天气 ☀️"},
    {
        "content": [{"type": "input_text", "text": "and book a hotel"}, {"type": "input_text", "text": "两晚"}],
        "role": "user",
    },
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA=="},
    {
        "type": "function_call",
        "call_id": "call_1",
        "name": "weather",
        "arguments": ARGUMENTS,
        "id": "fc_1",
        "status": None,
    },
    {"call_id": "call_1", "type": "function_call_output", "output": '{"t": 11.0,\r\n "sky": "cloudy"}'},
    {"type": "function_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "from 88 EUR"}]},
    {"type": "function_call_output", "call_id": "call_3", "output": ""},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
            {"text": "京都多云，十一度。", "type": "output_text", "annotations": [], "logprobs": [{"logprob": -1.0}]}
        ],
    },
    {"role": "user", "content": "   "},
]


@pytest.fixture
async def memory(client: Client, endpoints: Endpoints) -> AsyncIterator[AsyncClient]:
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    async with AsyncClient.connect(
        endpoints.gateway, endpoints.admin_key, namespace=namespace_of(client), timeout_seconds=CALL_TIMEOUT_SECONDS
    ) as connected:
        yield connected


@pytest.fixture
def session(memory: AsyncClient) -> RearviewSession:
    return RearviewSession(memory, "chat-1")


def spelled(items: list[TResponseInputItem]) -> list[str]:
    return [json.dumps(item, ensure_ascii=False) for item in items]


async def test_items_come_back_byte_for_byte_in_order(session: RearviewSession, memory: AsyncClient) -> None:
    checked: Session = session  # the SDK's own protocol, for mypy
    assert isinstance(checked, Session)
    assert await session.get_items() == []
    await session.add_items([])
    await session.add_items(ITEMS[:4])
    await session.add_items(ITEMS[4:])
    assert spelled(await session.get_items()) == spelled(ITEMS)
    assert spelled(await session.get_items(limit=2)) == spelled(ITEMS[-2:])
    assert await session.get_items(limit=100) == ITEMS
    assert await session.get_items(limit=0) == []
    limited = RearviewSession(memory, "chat-1", session_settings=SessionSettings(limit=3))
    assert await limited.get_items() == ITEMS[-3:]
    assert await RearviewSession(memory, "chat-2").get_items() == []


async def test_the_newest_item_is_popped_until_none_is_left(session: RearviewSession, client: Client) -> None:
    assert await session.pop_item() is None
    await session.add_items(ITEMS[:5])
    for item in reversed(ITEMS[:5]):
        popped = await session.pop_item()
        assert popped is not None
        assert spelled([popped]) == spelled([item])
    assert await session.pop_item() is None
    assert await session.get_items() == []
    await session.add_items(ITEMS[7:8])
    assert await session.get_items() == ITEMS[7:8]
    await session.add_items(ITEMS[:4])
    popped_at_once = await asyncio.gather(*(session.pop_item() for _ in range(3)))
    assert sorted(spelled([item for item in popped_at_once if item])) == sorted(spelled(ITEMS[1:4]))
    assert await session.get_items() == [ITEMS[7], ITEMS[0]]


async def test_what_is_popped_or_cleared_is_forgotten(session: RearviewSession, client: Client) -> None:
    kept = "My sister Mireille lives in Lyon and works as a nurse."
    popped = "Mireille keeps three tortoises called Ada, Bo and Cy."
    await session.add_items([{"role": "user", "content": kept}, {"role": "user", "content": popped}])
    await asyncio.to_thread(indexed, client)
    await session.pop_item()
    answer = await asyncio.to_thread(client.recall, "Mireille", session="chat-1")
    assert any(kept in text for text in texts_of(answer))
    assert "tortoises" not in str(answer)
    await session.clear_session()
    await session.clear_session()
    assert await session.get_items() == []
    assert "Mireille" not in str((await asyncio.to_thread(client.recall, "Mireille")).hits)
    await session.add_items(ITEMS[:1])
    assert await session.get_items() == ITEMS[:1]


async def test_too_long_items_are_refused_and_nothing_is_added(session: RearviewSession) -> None:
    for bad in ({"role": "user", "content": "x" * 40_000}, {"type": "reasoning", "encrypted_content": "x" * 20_000}):
        with refused(InvalidFields, "items[1]"):
            await session.add_items([ITEMS[0], bad])  # type: ignore[list-item]
    assert await session.get_items() == []


async def test_personal_data_is_redacted_and_the_item_stays_one(session: RearviewSession) -> None:
    arguments = json.dumps({"phone": "13800138000", "password": "hunter2"})
    await session.add_items(
        [
            {"role": "user", "content": "Call 13800138000, 谢谢"},
            {"type": "function_call", "call_id": "c", "name": "call", "arguments": arguments},
        ]
    )
    said, called = (dict(item) for item in await session.get_items())
    assert list(called) == ["type", "call_id", "name", "arguments"]
    assert "13800138000" not in f"{said}{called}"
    assert "hunter2" not in str(called)
    assert str(said["content"]).endswith(", 谢谢")
    assert set(json.loads(str(called["arguments"]))) == {"phone", "password"}


async def test_turns_that_others_append_are_items_where_they_are_messages(
    session: RearviewSession, memory: AsyncClient
) -> None:
    async with memory.session("chat-1", end_on_exit=False) as own:
        await own.user("你好")
        await own.tool("weather", "11 degrees")
        await own.assistant("Hello.")
    messages = [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "Hello."}]
    assert await session.get_items() == messages
    assert await session.get_items(limit=1) == messages[1:]
    assert await session.pop_item() == messages[1]
    assert await session.pop_item() == messages[0]
    assert await session.pop_item() is None


class _Scripted(Model):
    """Answers as written; keeps what it was asked. It stands for a provider, which no test reaches."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[Any] = []
        self._answers = list(answers)

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **given: Any) -> ModelResponse:  # noqa: A002 - the SDK's name
        self.asked.append(input)
        return ModelResponse(output=[self._answers.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **given: Any) -> Any:
        raise NotImplementedError


def _said(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="msg", content=[content], role="assistant", status="completed", type="message")


@function_tool
def weather(city: str) -> str:
    """Say what the weather is like."""
    return f"{city}: 11 degrees"


async def test_an_agent_goes_on_where_it_stopped_and_remembers(session: RearviewSession, client: Client) -> None:
    set_tracing_disabled(True)
    call = ResponseFunctionToolCall(
        call_id="call_9", name="weather", arguments='{"city": "京都"}', type="function_call"
    )
    model = _Scripted(call, _said("十一度。"), _said("Your order is B-7431."))
    agent = Agent(name="guide", model=model, tools=[weather])
    await Runner.run(agent, "京都天气怎么样？", session=session)
    await Runner.run(agent, "My order is B-7431, remember it.", session=session)
    asked = json.dumps(model.asked[-1], ensure_ascii=False)
    assert all(text in asked for text in ("京都天气怎么样？", "京都: 11 degrees", "十一度。", "My order is B-7431"))
    kinds = [dict(item).get("type") or dict(item).get("role") for item in await session.get_items()]
    assert kinds == ["user", "function_call", "function_call_output", "message", "user", "message"]
    answer = await asyncio.to_thread(
        eventually,
        lambda: client.recall("订单号是多少？"),
        lambda found: any("B-7431" in text for text in texts_of(found)),
        "the order to be remembered",
    )
    assert answer.hits
