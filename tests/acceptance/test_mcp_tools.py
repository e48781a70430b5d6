"""Every tool, resource and prompt of the MCP adapter, over stdio and HTTP, in both generations of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client as McpClient
from mcp import MCPError
from mcp_types import TextContent, TextResourceContents

from rearview.client import Client
from tests.acceptance.mcp_bad_calls import BAD_CALLS
from tests.support.mcp_adapter import HttpAdapter, over_http, over_stdio, text_of
from tests.support.supervised_stack import SupervisedStack

WAYS = [("stdio", "auto"), ("stdio", "legacy"), ("http", "auto"), ("http", "legacy")]
PROTOCOLS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
EVERY_WAY = pytest.mark.parametrize(("transport", "mode"), WAYS, ids=["-".join(way) for way in WAYS])


@asynccontextmanager
async def connected(
    transport: str, mode: str, stack: SupervisedStack, adapter: HttpAdapter, namespace: str
) -> AsyncIterator[McpClient]:
    key = stack.endpoints().admin_key or ""
    opened = (
        over_stdio(stack.folder.root, key, namespace=namespace, mode=mode)
        if transport == "stdio"
        else over_http(adapter.url, key, namespace=namespace, mode=mode)
    )
    async with opened as client:
        assert client.protocol_version == PROTOCOLS[mode]
        yield client


@EVERY_WAY
async def test_an_agent_remembers_finds_changes_explains_and_forgets(
    transport: str, mode: str, stack: SupervisedStack, mcp_adapter: HttpAdapter, client: Client
) -> None:
    async with connected(transport, mode, stack, mcp_adapter, client.namespace) as agent:
        written = await agent.call_tool(
            "memory_write",
            {
                "content": "我的订单号是 A2026-0815，the courier is SF Express。",
                "type": "fact",
                "priority": 0.8,
                "entities": ["A2026-0815"],
                "timestamp": 1786761000,
                "session": "chat-1",
                "labels": [{"key": "project", "value": "apollo"}],
            },
        )
        assert not written.is_error, text_of(written)
        memory = written.structured_content["memory"]
        assert written.structured_content["outcome"] == "created"
        assert memory["namespace"] == client.namespace
        assert memory["type"] == "fact"
        assert memory["occurred_at"] == "2026-08-15T02:30:00Z"
        assert memory["labels"] == {"project": "apollo"}

        found = await agent.call_tool(
            "memory_search",
            {
                "query": "What is my order number?",
                "filters": {"labels": [{"key": "project", "value": "apollo"}], "types": ["fact"]},
                "time_range": {"start": "2026-08-15", "end": "2026-08-15"},
            },
        )
        assert [hit["id"] for hit in found.structured_content["hits"]] == [memory["id"]]

        changed = await agent.call_tool(
            "memory_update", {"memory": memory["id"], "content": "我的订单号是 A2026-0816。", "etag": memory["etag"]}
        )
        assert "A2026-0816" in changed.structured_content["memory"]["content"]
        stale = await agent.call_tool("memory_update", {"memory": memory["id"], "content": "x", "etag": memory["etag"]})
        assert stale.is_error
        assert text_of(stale).startswith("ETAG_MISMATCH")

        turns = [{"role": "user", "content": "电工只有上午有空"}, {"role": "assistant", "content": "Noted."}]
        appended = await agent.call_tool("memory_append", {"session": "chat-1", "turns": turns})
        events = appended.structured_content["events"]
        assert len(events) == len(turns)

        context = await agent.call_tool("memory_context", {"query": "订单号是多少？", "session": "chat-1"})
        assert "A2026-0816" in text_of(context)
        assert context.structured_content["citations"][0]["mark"] == "[1]"

        why = await agent.call_tool("memory_explain", {"trace": context.structured_content["trace"]})
        assert any(memory["id"] in one["name"] for one in why.structured_content["recall"]["candidates"])
        became = await agent.call_tool("memory_explain", {"event": events[0]})
        assert became.structured_content["capture"]["outcome"] in {"pending", "kept"}

        gone = await agent.call_tool("memory_forget", {"memories": [memory["id"]], "reason": "asked to"})
        assert gone.structured_content["state"] == "tombstoned"
        after = await agent.call_tool("memory_search", {"query": "订单号 A2026-0816"})
        assert memory["id"] not in [hit["id"] for hit in after.structured_content["hits"]]


@pytest.mark.parametrize(("transport", "mode"), [("stdio", "auto"), ("http", "legacy")])
async def test_malformed_calls_are_told_what_was_expected(
    transport: str, mode: str, stack: SupervisedStack, mcp_adapter: HttpAdapter, client: Client
) -> None:
    assert len(BAD_CALLS) >= 20
    async with connected(transport, mode, stack, mcp_adapter, client.namespace) as agent:
        for bad in BAD_CALLS:
            answer = await agent.call_tool(bad.tool, bad.arguments)
            assert answer.is_error, bad
            assert bad.told in text_of(answer), bad
            error = (answer.meta or {})["rearview.dev/error"]
            assert text_of(answer).startswith(error["reason"])
        with pytest.raises(MCPError, match="unknown tool 'memory_delete'"):
            await agent.call_tool("memory_delete", {})
    assert [memory.content for memory in client.list_memories()] == []


async def test_every_form_of_forgetting(stack: SupervisedStack, mcp_adapter: HttpAdapter, client: Client) -> None:
    client.remember("Li Lei keeps bees")
    client.remember("体检报告在人事目录里")
    client.remember("the tender of the harbour", labels={"project": "harbour"})
    with client.session("chat-7") as session:
        session.user("The trip to Kyoto is in April.")
        session.assistant("Noted.")
        session.user("The safe opens with marzipan nine.")
        session.assistant("Marzipan nine it is.")
    async with connected("http", "auto", stack, mcp_adapter, client.namespace) as agent:

        async def forget(**target: object) -> dict[str, Any]:
            answer = await agent.call_tool("memory_forget", dict(target))
            assert not answer.is_error, text_of(answer)
            return dict(answer.structured_content or {})

        assert (await forget(subject="Li Lei"))["memory_count"] >= 1
        assert (await forget(session="chat-7", last_turns=1))["event_count"] == 2
        assert (await forget(filters={"labels": {"project": "harbour"}}))["memory_count"] == 1
        shown = await forget(query="体检报告在哪里", preview=True)
        assert (shown["preview"], shown["memory_count"]) == (True, 1)
        unconfirmed = await agent.call_tool("memory_forget", {"query": "体检报告在哪里"})
        assert text_of(unconfirmed).startswith("INVALID_CONFIRMATION_TOKEN")
        assert "preview" in text_of(unconfirmed)
        gone = await forget(query="体检报告在哪里", confirmation_token=shown["confirmation_token"])
        assert gone["memories"] == shown["memories"]
    left = [event.content for event in client.list_events("chat-7")]
    assert left == ["The trip to Kyoto is in April.", "Noted."]
    texts = "".join(memory.content for memory in client.list_memories())
    assert not [word for word in ("Li Lei", "体检", "harbour", "arzipan") if word in texts]


@EVERY_WAY
async def test_resources_and_prompts(
    transport: str, mode: str, stack: SupervisedStack, mcp_adapter: HttpAdapter, client: Client
) -> None:
    client.remember("我喜欢喝美式咖啡。")
    with client.session("chat-9", end_on_exit=False) as session:
        session.user("The meeting is at three.")
    async with connected(transport, mode, stack, mcp_adapter, client.namespace) as agent:
        listed = (await agent.list_resources()).resources
        assert [str(one.uri) for one in listed] == [f"rearview://namespaces/{client.namespace}/memories"]
        assert "我喜欢喝美式咖啡。" in await read(agent, str(listed[0].uri))
        templates = [one.uri_template for one in (await agent.list_resource_templates()).resource_templates]
        working = templates[1].replace("{namespace}", client.namespace).replace("{session}", "chat-9")
        assert "The meeting is at three." in await read(agent, working)
        with pytest.raises(MCPError, match="INVALID_FIELD"):
            await agent.read_resource("rearview://elsewhere")
        with pytest.raises(MCPError, match="NAMESPACE_DENIED"):
            await agent.read_resource("rearview://namespaces/nobody-has-this/memories")

        names = [prompt.name for prompt in (await agent.list_prompts()).prompts]
        assert names == ["memory_guide_zh", "memory_guide_en"]
        for name, piece in zip(names, ("打招呼", "Greetings"), strict=True):
            content = (await agent.get_prompt(name)).messages[0].content
            assert isinstance(content, TextContent)
            assert piece in content.text
        with pytest.raises(MCPError, match="memory_guide_zh"):
            await agent.get_prompt("memory_guide_fr")
        assert "Do not call memory" in (agent.instructions or "")


async def read(agent: McpClient, uri: str) -> str:
    content = (await agent.read_resource(uri)).contents[0]
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "application/json"
    return content.text
