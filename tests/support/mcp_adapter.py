"""The MCP adapter as hosts run it: a process on stdio, or one that serves HTTP; and clients of the official SDK."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from tests.support.ports import free_port
from tests.support.supervised_stack import ROOT, environment

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.05
CALL_SECONDS = 60.0
# The first write of a stack loads models; a busy machine takes its time.
_PATIENT = {"REARVIEW_MCP_CALL_TIMEOUT_SECONDS": "45"}
COMMAND = ("-m", "rearview.cli", "mcp")


def until_alive(base: str, runs: Callable[[], bool] = lambda: True) -> None:
    """Return when the adapter at this address answers; fail when it ends first or takes too long."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        assert runs()
        assert time.monotonic() < deadline
        try:
            httpx.get(f"{base}/healthz", timeout=5).raise_for_status()
        except httpx.HTTPError:
            time.sleep(POLL_SECONDS)
        else:
            return


class HttpAdapter:
    """`rearview mcp --http` in a process of its own."""

    def __init__(self, data_dir: Path, **variables: str) -> None:
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.base}/mcp"
        self.metrics = f"127.0.0.1:{free_port()}"
        self._log = data_dir.with_name(f"mcp-{self.port}.log")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, *COMMAND, "--http", f"127.0.0.1:{self.port}", "--data-dir", str(data_dir)],
                cwd=ROOT,
                env=environment(
                    **{**_PATIENT, "REARVIEW_MCP_METRICS_PORT": self.metrics.rpartition(":")[2], **variables}
                ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def log(self) -> str:
        """What the adapter wrote."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def wait(self) -> HttpAdapter:
        """Return when it answers."""
        until_alive(self.base, lambda: self._process.poll() is None)
        return self

    def stop(self) -> int:
        """Stop as a supervisor does; return the exit code."""
        if self._process.poll() is None:
            self._process.terminate()
        return self._process.wait(timeout=WAIT_SECONDS)


@asynccontextmanager
async def over_http(
    url: str, key: str, *, namespace: str = "", mode: str = "auto", headers: Mapping[str, str] | None = None
) -> AsyncIterator[Client]:
    """A client over streamable HTTP; `mode` is auto (the newest protocol) or legacy (with sessions)."""
    sent = {"Authorization": f"Bearer {key}", **(headers or {})}
    if namespace:
        sent["Rearview-Namespace"] = namespace
    async with (
        httpx2.AsyncClient(headers=sent, timeout=CALL_SECONDS) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=CALL_SECONDS) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(data_dir: Path, key: str, *, namespace: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    """A client of an adapter that it starts itself, as agents' hosts do."""
    arguments = [*COMMAND, "--data-dir", str(data_dir), *(["--namespace", namespace] if namespace else [])]
    variables = environment(**_PATIENT, REARVIEW_API_KEY=key, REARVIEW_LOG_LEVEL="error")
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=variables, cwd=ROOT)
    async with Client(parameters, mode=mode, read_timeout_seconds=CALL_SECONDS) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    """What the model is shown."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))
