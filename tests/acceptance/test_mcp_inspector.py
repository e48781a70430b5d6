"""The MCP inspector lists and calls every tool, and is told what is wrong with malformed calls."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from rearview.client import Client
from rearview.mcp_adapter.tools import TOOLS
from tests.acceptance.mcp_bad_calls import BAD_CALLS
from tests.support.mcp_adapter import HttpAdapter
from tests.support.mcp_inspector import Inspector, Target, install_inspector
from tests.support.supervised_stack import SupervisedStack


@pytest.fixture(scope="module")
async def inspector(request: pytest.FixtureRequest) -> Inspector:
    """The inspector; where it cannot be had, the SDK's client stands in, and the report says so."""
    found, why_not = await install_inspector()
    if why_not:
        reporter = request.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(f"MCP inspector: {why_not}; the official SDK's client stands in for it")
    return found


@pytest.fixture
def targets(stack: SupervisedStack, mcp_adapter: HttpAdapter, client: Client) -> dict[str, Target]:
    """The adapter over HTTP, and the one that a host would start on stdio."""
    endpoints = stack.endpoints()
    key = endpoints.admin_key or ""
    variables = {
        "REARVIEW_GATEWAY": endpoints.gateway or "",
        "REARVIEW_API_KEY": key,
        "REARVIEW_NAMESPACE": client.namespace,
        "REARVIEW_MCP_CALL_TIMEOUT_SECONDS": "45",
    }
    return {
        "http": Target(url=mcp_adapter.url, key=key, namespace=client.namespace),
        "stdio": Target(command=[sys.executable, "-m", "rearview.mcp_adapter"], variables=variables),
    }


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_every_tool_is_listed_and_can_be_called(
    inspector: Inspector, targets: dict[str, Target], client: Client, transport: str
) -> None:
    target = targets[transport]
    kept = client.remember("我的订单号是 A2026-0815。").memory.name.rpartition("/")[2]
    goes = client.remember("The umbrella is green.").memory.name.rpartition("/")[2]
    trace = client.recall("订单号").trace
    calls: dict[str, dict[str, Any]] = {
        "memory_write": {"content": "I like tea.", "priority": 0.8, "labels": [{"key": "project", "value": "apollo"}]},
        "memory_search": {"query": "我的订单号是多少？", "top_k": 3, "filters": {"types": ["explicit"]}},
        "memory_update": {"memory": kept, "content": "我的订单号是 A2026-0816。", "pinned": True},
        "memory_forget": {"memories": [goes], "reason": "asked to"},
        "memory_append": {"session": "chat-1", "turns": [{"role": "user", "content": "我的车停在 B2。"}]},
        "memory_context": {"query": "order number", "max_tokens": 200},
        "memory_explain": {"trace": trace},
    }
    listed, *answers = await asyncio.gather(
        inspector.request(target, "tools/list"),
        *(inspector.request(target, "tools/call", tool, arguments) for tool, arguments in calls.items()),
    )
    assert [tool["name"] for tool in listed["tools"]] == list(TOOLS) == list(calls)
    for tool, answer in zip(calls, answers, strict=True):
        assert not answer.get("isError"), (tool, answer)
        assert set(TOOLS[tool].answers["required"]) <= set(answer["structuredContent"])


async def test_malformed_calls_are_told_what_was_expected(inspector: Inspector, targets: dict[str, Target]) -> None:
    assert len(BAD_CALLS) >= 20
    answers = await asyncio.gather(
        *(inspector.request(targets["http"], "tools/call", bad.tool, bad.arguments) for bad in BAD_CALLS)
    )
    for bad, answer in zip(BAD_CALLS, answers, strict=True):
        assert answer["isError"] is True, bad
        assert bad.told in answer["content"][0]["text"], bad
