"""A chat server of this test's own, and sources that ask it."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from rearview.adapters.llm.llm_fact_source import LlmFactSource
from rearview.adapters.llm.settings import LlmSettings
from rearview.language.fact_grounds import RuleFactGrounds
from rearview.ports.clock import SystemClock
from tests.support.chat_server import ChatReply, ChatServer
from tests.support.turns import answer, entry, fact

KEY = "sk-very-secret-7f3a"
TEXT = "我的预算是8000元，looking for a laptop"
RIGHT = answer(entry(1, fact("我的预算是8000元", "budget", "8000元"), intent="request"))

OpenSource = Callable[..., LlmFactSource]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ChatReply(RIGHT)).running() as running:
        yield running


@pytest.fixture
async def open_source(server: ChatServer) -> AsyncIterator[OpenSource]:
    """Return how to open a source with settings that differ from quick ones; all are closed at the end."""
    opened: list[LlmFactSource] = []

    def open_one(*, seconds: Callable[[], float] = time.monotonic, **changes: Any) -> LlmFactSource:
        usual: dict[str, Any] = {
            "url": server.url,
            "model": "reader-1",
            "api_key": KEY,
            "attempt_seconds": 5.0,
            "total_seconds": 20.0,
            "first_pause_seconds": 0.01,
            "longest_pause_seconds": 0.05,
            "max_answer_bytes": 65_536,
            "breaker_failures": 100,
        }
        settings = LlmSettings(**{**usual, **changes})
        opened.append(LlmFactSource(settings, RuleFactGrounds(), SystemClock(), seconds=seconds))
        return opened[-1]

    yield open_one
    for source in opened:
        await source.close()
