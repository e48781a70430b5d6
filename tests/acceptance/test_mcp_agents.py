"""One MCP adapter serves many agents and mixes nothing up.

`REARVIEW_TEST_PROFILE=thorough` makes 5,000 calls instead of 400.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from itertools import cycle

import pytest
from mcp import Client as McpClient
from mcp_types import TextResourceContents

from rearview.client import Client
from rearview.domain.ids import new_id
from tests.support.mcp_adapter import HttpAdapter, over_http, text_of

AGENTS = 50
CALLS_PER_AGENT = 100 if os.environ.get("REARVIEW_TEST_PROFILE") == "thorough" else 8


@dataclass(frozen=True, slots=True)
class Agent:
    """Somebody with a key, a namespace and a word that nobody else has."""

    number: int
    key: str
    namespace: str
    word: str

    @property
    def mode(self) -> str:
        """Half of the agents speak the newest protocol, half the one with sessions."""
        return "auto" if self.number % 2 else "legacy"


@pytest.fixture
def agents(admin: Client) -> list[Agent]:
    # A principal's first key makes its private namespace, of the same name.
    made = []
    for number in range(AGENTS):
        mark = new_id().hex[-10:]
        key = admin.create_api_key(f"agent-{mark}", "write").secret
        made.append(Agent(number, key, f"agent-{mark}", f"W{number:02d}-{mark}"))
    return made


async def test_fifty_agents_at_once_see_only_their_own(mcp_adapter: HttpAdapter, agents: list[Agent]) -> None:
    calls = await asyncio.gather(*(lives(agent, agents, mcp_adapter) for agent in agents))
    assert sum(calls) == AGENTS * CALLS_PER_AGENT


async def lives(agent: Agent, everybody: list[Agent], adapter: HttpAdapter) -> int:
    """Write the word, ask for it in every way, and try the neighbour's namespace; return how many calls were made."""
    neighbour = everybody[(agent.number + 1) % len(everybody)]
    async with over_http(adapter.url, agent.key, namespace=agent.namespace, mode=agent.mode) as client:
        written = await client.call_tool("memory_write", {"content": f"我的暗号是 {agent.word}。"})
        assert not written.is_error, text_of(written)
        denied = await client.call_tool("memory_search", {"query": "暗号", "namespace": neighbour.namespace})
        assert text_of(denied).startswith("NAMESPACE_DENIED")
        made = 2
        for ask in ways(client, agent):
            said = await ask
            made += 1
            assert agent.word in said
            assert [other.word for other in everybody if other.word in said] == [agent.word]
            if made == CALLS_PER_AGENT:
                return made
    raise AssertionError("there are endless ways to ask")


def ways(client: McpClient, agent: Agent) -> Iterator[Awaitable[str]]:
    """Return calls whose answers must hold the agent's word, for ever; also those that time was too short to embed."""
    for way in cycle(("search", "context", "resource")):
        if way == "search":
            yield tool(client, "memory_search", {"query": "我的暗号: what is my secret word?", "top_k": 5})
        elif way == "context":
            yield tool(client, "memory_context", {"query": "我的暗号是什么？", "namespace": agent.namespace})
        else:
            yield resource(client, f"rearview://namespaces/{agent.namespace}/memories")


async def tool(client: McpClient, name: str, arguments: dict[str, object]) -> str:
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, text_of(answer)
    return text_of(answer)


async def resource(client: McpClient, uri: str) -> str:
    content = (await client.read_resource(uri, cache_mode="bypass")).contents[0]
    assert isinstance(content, TextResourceContents)
    return content.text
