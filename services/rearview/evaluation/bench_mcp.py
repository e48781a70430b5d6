"""`rearview bench mcp`: what the MCP adapter adds to a call, over stdio and over HTTP."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx2
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from rearview.client import AsyncClient
from rearview.evaluation.measures import percentile_milliseconds

MEMORIES = 50
WARM_UP_CALLS = 10
START_SECONDS = 60.0
POLL_SECONDS = 0.05
CALL_SECONDS = 60.0
MODULE = "rearview.mcp_adapter"

Ask = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class McpFigures:
    """How long the same search took by each way, call by call."""

    seconds: Mapping[str, list[float]]

    def as_json(self) -> dict[str, object]:
        """Return the median of each way, and by how much it exceeds plain gRPC's."""
        p50 = {way: percentile_milliseconds(seconds, 50) for way, seconds in self.seconds.items()}
        return {
            "calls": len(self.seconds["grpc"]),
            **{f"{way}_p50_ms": median for way, median in p50.items()},
            **{f"{way}_overhead_p50_ms": round(p50[way] - p50["grpc"], 2) for way in ("stdio", "http")},
        }


async def bench_mcp(
    endpoint: str, api_key: str, namespace: str, calls: int, environment: Mapping[str, str]
) -> McpFigures:
    """Ask the same kind of question over gRPC, MCP on stdio and MCP over HTTP in turn, one call at a time.

    Every question is a new one, so that no cache of answers helps. `environment` is that of the adapters.
    """
    variables = {
        **environment,
        "REARVIEW_GATEWAY": endpoint,
        "REARVIEW_API_KEY": api_key,
        "REARVIEW_NAMESPACE": namespace,
        "REARVIEW_LOG_LEVEL": "error",
        "REARVIEW_MCP_CALL_TIMEOUT_SECONDS": str(CALL_SECONDS),
    }
    async with AsyncExitStack() as opened:
        grpc = await opened.enter_async_context(
            AsyncClient.connect(endpoint, api_key, namespace=namespace, timeout_seconds=CALL_SECONDS)
        )
        for number in range(MEMORIES):
            await grpc.remember(f"Shelf {number} holds the files of project {number * 7}. 第{number}号柜子。")
        stdio = await opened.enter_async_context(
            McpClient(StdioServerParameters(command=sys.executable, args=["-m", MODULE], env=variables))
        )
        http = await opened.enter_async_context(_over_http(variables, api_key, namespace))
        ways: dict[str, Ask] = {
            "grpc": lambda query: grpc.recall(query, top_k=5),
            "stdio": lambda query: stdio.call_tool("memory_search", {"query": query}),
            "http": lambda query: http.call_tool("memory_search", {"query": query}),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for call in range(-WARM_UP_CALLS, calls):
            for way, ask in ways.items():
                started = time.perf_counter()
                await ask(f"Where are the files of project {call}? ({way})")
                if call >= 0:
                    seconds[way].append(time.perf_counter() - started)
        return McpFigures(seconds)


@asynccontextmanager
async def _over_http(variables: Mapping[str, str], api_key: str, namespace: str) -> AsyncIterator[McpClient]:
    """Start an adapter that serves HTTP; yield a client of it."""
    listen = f"127.0.0.1:{_free_port()}"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        MODULE,
        env={**variables, "REARVIEW_MCP_LISTEN": listen},
        stdin=asyncio.subprocess.DEVNULL,
    )
    headers = {"Authorization": f"Bearer {api_key}", "Rearview-Namespace": namespace}
    try:
        async with httpx2.AsyncClient(headers=headers, timeout=CALL_SECONDS) as transport:
            await _until_ready(transport, f"http://{listen}/healthz")
            async with McpClient(streamable_http_client(f"http://{listen}/mcp", http_client=transport)) as client:
                yield client
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _until_ready(transport: httpx2.AsyncClient, url: str) -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            try:
                if (await transport.get(url)).is_success:
                    return
            except httpx2.TransportError:
                pass
            await asyncio.sleep(POLL_SECONDS)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
