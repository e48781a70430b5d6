"""An agent of 300 turns that knows memory through MCP alone, and goes by the agent guide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import yaml
from mcp import Client as McpClient

from rearview.client import Client
from rearview.mcp_adapter.guide import Action, Guide
from tests.support.mcp_adapter import over_stdio, text_of
from tests.support.supervised_stack import ROOT, SupervisedStack

TURNS = 300
QUESTIONS = 40
RIGHT_AT_LEAST = 38
SCRIPT: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("mcp_conversation.yaml").read_text("utf-8"))
SMALL_TALK: list[str] = yaml.safe_load((ROOT / "tests/unit/mcp_adapter/utterances.yaml").read_text("utf-8"))["none"]


@dataclass(frozen=True, slots=True)
class Said:
    """A turn of the user: what the guide should have the agent do, and how the answer is judged."""

    text: str
    action: Action
    about: str = ""
    expect: str = ""
    never: str = ""


class GuidedAgent:
    """Does what the guide says of each turn, and nothing else."""

    def __init__(self, client: McpClient) -> None:
        self._client = client
        self._guide = Guide.load()
        self.calls = Counter[Action]()

    async def hear(self, said: Said) -> str:
        """Return what the agent found, where it looked."""
        action = self._guide.decide(said.text)
        assert action is said.action, said
        if action is Action.WRITE:
            await self._call(said, "memory_write", {"content": said.text})
        elif action is Action.SEARCH:
            hits = (await self._call(said, "memory_search", {"query": said.text}))["hits"]
            return "\n".join(hit["content"] for hit in hits)
        elif action in (Action.UPDATE, Action.FORGET):
            memory = await self._meant(said)
            if action is Action.UPDATE:
                await self._call(said, "memory_update", {"memory": memory, "content": said.text})
            else:
                await self._call(said, "memory_forget", {"memories": [memory]})
        return ""

    async def _meant(self, said: Said) -> str:
        """Return the memory that is to be changed, as a model picks it from the hits."""
        hits = (await self._call(said, "memory_search", {"query": said.text}))["hits"]
        return str(next(hit["id"] for hit in hits if said.about in hit["content"]))

    async def _call(self, said: Said, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.calls[said.action] += 1
        answer = await self._client.call_tool(tool, arguments)
        assert not answer.is_error, text_of(answer)
        return dict(answer.structured_content)


def turns() -> list[Said]:
    """The script, with small talk between its turns."""
    told = [Said(text, Action.WRITE) for text in SCRIPT["tell"]]
    early = [question(one) for one in SCRIPT["ask_before_changes"]]
    changes = [Said(one["say"], Action.UPDATE, about=one["about"]) for one in SCRIPT["change"]]
    forgets = [Said(one["say"], Action.FORGET, about=one["about"]) for one in SCRIPT["forget"]]
    asked = [question(one) for one in SCRIPT["ask"]]
    script = [*told, *early, *changes, *forgets, *asked]
    return list(with_small_talk(script, TURNS - len(script)))


def question(one: dict[str, str]) -> Said:
    return Said(one["ask"], Action.SEARCH, expect=one.get("expect", ""), never=one.get("never", ""))


def with_small_talk(script: list[Said], count: int) -> Iterator[Said]:
    """Spread so many turns of small talk evenly over the script."""
    chatter = cycle(SMALL_TALK)
    given = 0
    for index, said in enumerate(script, 1):
        yield said
        while given < count * index // len(script):
            given += 1
            yield Said(next(chatter), Action.NONE)


async def test_three_hundred_turns_through_mcp_alone(stack: SupervisedStack, client: Client) -> None:
    conversation = turns()
    assert len(conversation) == TURNS
    wrong = []
    async with over_stdio(stack.folder.root, stack.endpoints().admin_key or "", namespace=client.namespace) as opened:
        agent = GuidedAgent(opened)
        for said in conversation:
            found = await agent.hear(said)
            if said.action is Action.SEARCH and (said.expect not in found or (said.never and said.never in found)):
                wrong.append((said.text, found))
    assert sum(said.action is Action.SEARCH for said in conversation) == QUESTIONS
    assert QUESTIONS - len(wrong) >= RIGHT_AT_LEAST, wrong
    assert agent.calls[Action.NONE] == 0
    assert agent.calls[Action.WRITE] == len(SCRIPT["tell"])
