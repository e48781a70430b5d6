"""The MCP inspector's command line, a third party's client, or the official SDK's client where there is no npm."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mcp import Client, StdioServerParameters

from tests.support.mcp_adapter import over_http
from tests.support.supervised_stack import ROOT, environment

# The newest version that can send a header and runs on Node.js 20, which is what Debian and its kin carry.
PACKAGE = "@modelcontextprotocol/inspector-cli@0.17.0"
FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "rearview-tests" / "mcp-inspector-0.17.0"
SCRIPT = FOLDER / "node_modules/@modelcontextprotocol/inspector-cli/build/index.js"
INSTALL_SECONDS = 180.0
CALL_SECONDS = 120.0
AT_A_TIME = 4


@dataclass(frozen=True, slots=True)
class Target:
    """Where the adapter is: a URL with a key, or a command with its environment."""

    url: str = ""
    key: str = ""
    namespace: str = ""
    command: Sequence[str] = ()
    variables: Mapping[str, str] | None = None


class Inspector(Protocol):
    """A client that makes one request a connection and gives the result's JSON."""

    name: str

    async def request(self, target: Target, method: str, tool: str = "", arguments: Mapping[str, Any] = {}) -> Any:
        """Return the result of tools/list or tools/call."""


class CommandLineInspector:
    """`node inspector-cli`, one process a request."""

    name = "inspector"

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_A_TIME)

    async def request(self, target: Target, method: str, tool: str = "", arguments: Mapping[str, Any] = {}) -> Any:
        """Run the inspector once."""
        where = [target.url, "--transport", "http"] if target.url else list(target.command)
        headers = {"Authorization": f"Bearer {target.key}", "Rearview-Namespace": target.namespace}
        sent = [f"{name}: {value}" for name, value in headers.items()] if target.url else []
        options = ["--method", method, *(["--tool-name", tool] if tool else [])]
        for name, value in arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            options += ["--tool-arg", f"{name}={text}"]
        if sent:
            options += ["--header", *sent]
        async with self._room:
            printed = await output_of(
                "node", str(SCRIPT), *where, *options, seconds=CALL_SECONDS, variables=target.variables or {}
            )
        return json.loads(printed)


class SdkInspector:
    """The official SDK's client, where the inspector cannot be had."""

    name = "sdk"

    async def request(self, target: Target, method: str, tool: str = "", arguments: Mapping[str, Any] = {}) -> Any:
        """Connect and make one request."""
        if target.url:
            async with over_http(target.url, target.key, namespace=target.namespace) as client:
                return await _requested(client, method, tool, arguments)
        variables = environment(**dict(target.variables or {}))
        parameters = StdioServerParameters(
            command=target.command[0], args=list(target.command[1:]), env=variables, cwd=ROOT
        )
        async with Client(parameters) as client:
            return await _requested(client, method, tool, arguments)


async def _requested(client: Client, method: str, tool: str, arguments: Mapping[str, Any]) -> Any:
    result = await (client.call_tool(tool, dict(arguments)) if method == "tools/call" else client.list_tools())
    return result.model_dump(mode="json", by_alias=True)


async def install_inspector() -> tuple[Inspector, str]:
    """Return the inspector, installed by npm when it is not there yet, or what stands in for it and why."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return SdkInspector(), "there is no npm"
    if not SCRIPT.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        arguments = ["install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", "--no-save", PACKAGE]
        try:
            await output_of("npm", *arguments, seconds=INSTALL_SECONDS, variables={})
        except (AssertionError, TimeoutError) as error:
            return SdkInspector(), f"npm could not install it: {str(error)[-200:]}"
    return CommandLineInspector(), ""


async def output_of(*command: str, seconds: float, variables: Mapping[str, str]) -> str:
    """Run a program to its end; return its standard output."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env=environment(**variables),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        printed, complaints = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    assert process.returncode == 0, complaints.decode(errors="replace")
    return printed.decode()
