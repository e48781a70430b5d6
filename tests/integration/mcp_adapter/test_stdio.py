"""What goes over standard input and output, line by line, as a host that is not the SDK may write it."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from typing import Any

import pytest

from rearview.mcp_adapter.stdio import MAX_LINE_BYTES
from tests.acceptance.mcp_wire import initialize, request
from tests.support.supervised_stack import ROOT, environment

WAIT_SECONDS = 60.0
VARIABLES = {"REARVIEW_API_KEY": "rv_nobody", "REARVIEW_MCP_CALL_TIMEOUT_SECONDS": "1"}
PARSE_ERROR, INVALID_REQUEST = -32700, -32600


@pytest.fixture
async def silent_gateway() -> AsyncIterator[str]:
    """The address of something that takes connections and never says a word."""

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.fixture
async def adapter(silent_gateway: str) -> AsyncIterator[Process]:
    """An adapter whose gateway never answers."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rearview.mcp_adapter"),
        cwd=ROOT,
        env=environment(REARVIEW_GATEWAY=silent_gateway, **VARIABLES),
        stdin=PIPE,
        stdout=PIPE,
        limit=2 * MAX_LINE_BYTES,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def answer_to(process: Process, line: bytes) -> dict[str, Any]:
    """Send a line, and return the next line that comes."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    read: dict[str, Any] = json.loads(await asyncio.wait_for(process.stdout.readline(), WAIT_SECONDS))
    return read


def as_line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode()


async def test_every_line_is_answered_whatever_it_is(adapter: Process) -> None:
    lines: list[tuple[bytes, object, int]] = [
        ("记住我的订单号".encode(), None, PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 1, "method"', None, PARSE_ERROR),
        (b"[" * 100_000, None, PARSE_ERROR),
        (b"[]", None, INVALID_REQUEST),
        (b"7", None, INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', 7, INVALID_REQUEST),
        ('{"jsonrpc": "1.0", "id": "七", "method": "ping"}'.encode(), "七", INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": "8", "method": "ping", "params": {"a": "\xff"}}', "8", INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 9, "method": "' + b"a" * MAX_LINE_BYTES + b'"}', None, INVALID_REQUEST),
    ]
    for line, number, code in lines:
        answer = await answer_to(adapter, line)
        assert (answer["id"], answer["error"]["code"]) == (number, code), line[:80]
        assert answer["error"]["message"]
    ping = await answer_to(adapter, b"\n \r\n" + as_line(request("ping", {}, 10)))
    assert (ping["id"], "result" in ping) == (10, True)


async def test_a_large_call_and_one_that_nobody_serves_are_answered(adapter: Process) -> None:
    assert (await answer_to(adapter, as_line(initialize())))["result"]["serverInfo"]["name"] == "rearview"
    assert adapter.stdin is not None
    adapter.stdin.write(as_line({"jsonrpc": "2.0", "method": "notifications/initialized"}) + b"\n")
    call = {"name": "memory_write", "arguments": {"content": "忘" * 1_000_000, "priority": 2}}
    large = await answer_to(adapter, as_line(request("tools/call", call, 1)))
    assert "priority: expected a number" in large["result"]["content"][0]["text"]
    call = {"name": "memory_search", "arguments": {"query": "茶"}}
    lost = await answer_to(adapter, as_line(request("tools/call", call, 2)))
    assert lost["result"]["isError"] is True
    assert lost["result"]["content"][0]["text"].startswith(("DEADLINE_EXCEEDED", "DEPENDENCY_UNAVAILABLE"))


async def test_the_adapter_ends_with_its_host(adapter: Process) -> None:
    await answer_to(adapter, as_line(request("ping", {}, 1)))
    assert adapter.stdin is not None
    adapter.stdin.close()
    assert await asyncio.wait_for(adapter.wait(), WAIT_SECONDS) == 0
