"""The protocol's handlers over tools, resources and prompts. One server serves all agents of an adapter."""

import asyncio
import json
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mcp_types as types
import structlog
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from rearview.domain.errors import DeadlineExceeded, InternalError, InvalidFields, RearviewError
from rearview.mcp_adapter.agents import Agents
from rearview.mcp_adapter.call_telemetry import READ_RESOURCE, CallTelemetry, traceparent_of
from rearview.mcp_adapter.failures import error_json, failed
from rearview.mcp_adapter.guide import Guide
from rearview.mcp_adapter.prompts import get_prompt, list_prompts
from rearview.mcp_adapter.resources import read_resource, resources_of, templates
from rearview.mcp_adapter.tool import Tool
from rearview.mcp_adapter.tools import TOOLS

Context = ServerRequestContext[Any, Any]

# Longer than any call's own deadline: what ends a call that hangs elsewhere.
SLACK_SECONDS = 2.0
LIST_TTL_MILLISECONDS = 3_600_000

_log = structlog.get_logger("rearview.mcp_adapter")


def build_server(agents: Agents, guide: Guide, telemetry: CallTelemetry, *, call_timeout_seconds: float) -> Server[Any]:
    """Return the server; transports are run around it."""
    handlers = _Handlers(agents, guide, telemetry, call_timeout_seconds + SLACK_SECONDS)
    constant = CacheHint(ttl_ms=LIST_TTL_MILLISECONDS, scope="public")
    server: Server[Any] = Server(
        "rearview",
        version=_version(),
        title="Rearview memory",
        description="Long-term memory of agents, in Chinese and English.",
        instructions=guide.instructions(),
        cache_hints={"tools/list": constant, "prompts/list": constant, "resources/templates/list": constant},
        get_tool_input_schema=lambda name: TOOLS[name].published().input_schema if name in TOOLS else None,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    # The SDK's spans go to a global tracer that nobody has set; calls get theirs by CallTelemetry.
    server.middleware.clear()
    return server


class _Handlers:
    def __init__(self, agents: Agents, guide: Guide, telemetry: CallTelemetry, longest_call_seconds: float) -> None:
        self._agents = agents
        self._telemetry = telemetry
        self._guide = guide
        self._longest_call_seconds = longest_call_seconds
        self._tools = types.ListToolsResult(tools=[tool.published() for tool in TOOLS.values()])

    async def list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return self._tools

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name[:64]!r}; known are {', '.join(TOOLS)}")
        with self._telemetry.call(tool.name, traceparent_of(context.request, params.meta)) as outcome:
            try:
                result = await self._call(tool, context, params.arguments)
            except RearviewError as error:
                outcome.reason = error.reason
                return failed(tool.name, error)
            outcome.reason = "OK"
            return result

    async def _call(self, tool: Tool, context: Context, arguments: dict[str, Any] | None) -> types.CallToolResult:
        try:
            client = self._agents.client_of(context.request)
            read = tool.read(arguments)
            async with asyncio.timeout(self._longest_call_seconds):
                answer = await tool.call(client, read)
        except TimeoutError as error:
            raise DeadlineExceeded("the call did not end within its deadline", stage="mcp_adapter") from error
        except RearviewError:
            raise
        except Exception as error:
            _log.exception("tool failed", tool=tool.name)
            raise InternalError("the adapter failed; its log says where") from error
        text = tool.text(answer) if tool.text else json.dumps(answer, ensure_ascii=False)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=answer, is_error=False
        )

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources_of(self._agents.client_of(context.request).namespace))

    async def list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=templates())

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        with self._telemetry.call(READ_RESOURCE, traceparent_of(context.request, params.meta)) as outcome:
            try:
                async with asyncio.timeout(self._longest_call_seconds):
                    content = await read_resource(self._agents.client_of(context.request), str(params.uri))
            except TimeoutError as error:
                late = DeadlineExceeded("the read did not end within its deadline")
                outcome.reason = late.reason
                raise _protocol_error(late) from error
            except RearviewError as error:
                outcome.reason = error.reason
                raise _protocol_error(error) from error
            outcome.reason = "OK"
            return content

    async def list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return list_prompts()

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            return get_prompt(self._guide, params.name)
        except RearviewError as error:
            raise _protocol_error(error) from error


def _version() -> str:
    """The distribution's version; a source tree that was not installed has none."""
    try:
        return version("rearview-memory")
    except PackageNotFoundError:
        return "unreleased"


def _protocol_error(error: RearviewError) -> MCPError:
    """Resources and prompts have no place for an error in their result."""
    code = types.INVALID_PARAMS if isinstance(error, InvalidFields) else types.INTERNAL_ERROR
    return MCPError(code, f"{error.reason}: {error.message}", error_json(error))
