"""What docs/mcp.md tells people to type, set and expect is so."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from rearview.mcp_adapter.config import McpConfig
from rearview.mcp_adapter.http import METADATA_PATH
from rearview.mcp_adapter.tools import TOOLS
from tests.support.document_blocks import blocks, marks
from tests.support.mcp_adapter import until_alive
from tests.support.ports import free_port
from tests.support.supervised_stack import ROOT, SupervisedStack, environment

DOCUMENT = ROOT / "docs/mcp.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
BLOCKS = blocks(DOCUMENT)
PORT = "8808"
TIMEOUT_SECONDS = 120
PATIENT = {"REARVIEW_MCP_CALL_TIMEOUT_SECONDS": "45"}


@pytest.fixture
def home(tmp_path: Path, stack: SupervisedStack) -> Path:
    """A folder like the repository after `make up`: with .venv and .rearview in it."""
    binaries = tmp_path / ".venv/bin"
    binaries.mkdir(parents=True)
    (binaries / "python").symlink_to(sys.executable)
    command = binaries / "rearview"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rearview.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    (tmp_path / ".rearview").symlink_to(stack.folder.root)
    return tmp_path


def configured(name: str, home: Path, stack: SupervisedStack, port: int = 0) -> dict[str, Any]:
    """Return a host's entry for Rearview, with what a reader has to fill in filled in."""
    endpoints = stack.endpoints()
    code = BLOCKS[name].code.replace("/path/to/rearview", str(home)).replace("rv_...", endpoints.api_key or "")
    code = code.replace("127.0.0.1:50051", endpoints.gateway or "").replace(PORT, str(port))
    content = json.loads(code)
    entry: dict[str, Any] = next(iter(content.values()))["rearview"]
    return entry


@contextmanager
def served(home: Path, port: int) -> Iterator[None]:
    """Run the block that serves HTTP."""
    code = BLOCKS["serve-http"].code.replace(PORT, str(port)).strip()
    with subprocess.Popen(["bash", "-c", f"exec {code}"], cwd=home, env=environment(**PATIENT)) as process:
        try:
            until_alive(f"http://127.0.0.1:{port}")
            yield
        finally:
            process.terminate()
            process.wait(timeout=TIMEOUT_SECONDS)


def test_every_mark_stands_before_a_block_that_is_run_here() -> None:
    run_here = {"host-stdio", "host-remote", "serve-http", "host-http", "python-http"}
    assert marks(DOCUMENT) == set(BLOCKS) == run_here


@pytest.mark.parametrize("name", ["host-stdio", "host-remote"])
async def test_hosts_can_start_the_adapter_as_configured(name: str, home: Path, stack: SupervisedStack) -> None:
    entry = configured(name, home, stack)
    variables = environment(**PATIENT, **entry.get("env", {}))
    parameters = StdioServerParameters(command=entry["command"], args=entry["args"], env=variables, cwd="/")
    async with McpClient(parameters) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
        assert not (await client.call_tool("memory_search", {"query": "tea"})).is_error


async def test_http_is_served_and_used_as_configured(home: Path, stack: SupervisedStack) -> None:
    port = free_port()
    with served(home, port):
        entry = configured("host-http", home, stack, port)
        async with (
            httpx2.AsyncClient(headers=entry["headers"], timeout=TIMEOUT_SECONDS) as http,
            McpClient(streamable_http_client(entry["url"], http_client=http)) as client,
        ):
            assert not (await client.call_tool("memory_search", {"query": "tea"})).is_error
        code = BLOCKS["python-http"].code.replace(PORT, str(port))
        result = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", code],
            cwd=home,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
        assert result.returncode == 0, result.stderr
        assert "我对花生过敏。" in result.stdout


def test_the_table_of_tools_is_that_of_the_tools() -> None:
    rows = re.findall(r"^\| `(memory_\w+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|", TEXT, re.MULTILINE)
    assert [name for name, _, _ in rows] == list(TOOLS)
    for name, required, further in rows:
        told = set(re.findall(r"`(\w+)`", required)) | set(re.findall(r"`(\w+)`", further))
        assert told == set(TOOLS[name].takes), name
        must = {argument for argument, one in TOOLS[name].takes.items() if one.required}
        assert must <= set(re.findall(r"`(\w+)`", required)), name


def test_the_table_of_settings_is_that_of_the_configuration() -> None:
    rows = dict(re.findall(r"^\| `REARVIEW_(\w+)` \| ([^|]+) \|", TEXT, re.MULTILINE))
    assert {name.lower() for name in rows} == set(McpConfig.model_fields)
    for name, told in rows.items():
        default = McpConfig.model_fields[name.lower()].default
        if isinstance(default, int | float):
            assert float(told) == default, name
    assert rows["NAMESPACE"].strip("` ") == McpConfig.model_fields["namespace"].default
    assert rows["ENDPOINTS_FILE"].strip("` ") == str(McpConfig.model_fields["endpoints_file"].default)
    assert f"`{METADATA_PATH}/mcp`" in TEXT
