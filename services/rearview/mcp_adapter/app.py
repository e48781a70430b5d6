"""Builds the adapter and runs it, on stdin and stdout or over HTTP, until it is told to stop."""

import asyncio
import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import uvicorn

from rearview.client import AsyncClient
from rearview.client.connection import certificates_in
from rearview.domain.errors import invalid_field
from rearview.mcp_adapter.agents import Agents
from rearview.mcp_adapter.call_telemetry import CallTelemetry
from rearview.mcp_adapter.config import LOOPBACK, McpConfig
from rearview.mcp_adapter.guide import Guide
from rearview.mcp_adapter.http import http_app
from rearview.mcp_adapter.server import build_server
from rearview.mcp_adapter.stdio import stdio_streams
from rearview.rpc.garbage import spare_what_is_loaded
from rearview.telemetry.metrics import Metrics, start_metrics_server
from rearview.telemetry.tracing import open_tracing

SERVICE = "mcp"
DRAIN_SECONDS = 10


async def run_adapter(config: McpConfig) -> None:
    """Serve until stdin ends or a signal comes.

    Raises:
        InvalidFields: neither the configuration nor the endpoints file says where the gateway is, or who calls.
        OSError: the metrics port cannot be bound.
    """
    with ExitStack() as stack:
        tracing = open_tracing(SERVICE)
        stack.callback(tracing.close)
        metrics = Metrics(SERVICE)
        if config.mcp_metrics_port is not None:
            host = config.host.strip("[]") or LOOPBACK[0]
            stack.callback(start_metrics_server(config.mcp_metrics_port, metrics, host=host).close)
        telemetry = CallTelemetry(metrics, tracing)
        spare_what_is_loaded()
        if config.mcp_listen:
            await _run_http(config, telemetry)
        else:
            await _run_stdio(config, telemetry)


async def _run_stdio(config: McpConfig, telemetry: CallTelemetry) -> None:
    async with _own_client(config) as client:
        agents = Agents(client, callers_bring_keys=False)
        server = build_server(agents, Guide.load(), telemetry, call_timeout_seconds=config.mcp_call_timeout_seconds)
        async with stdio_streams() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


async def _run_http(config: McpConfig, telemetry: CallTelemetry) -> None:
    gateway = AsyncClient.connect_without_key(
        config.gateway or str(_endpoints(config)["gateway"]),
        namespace=config.namespace,
        timeout_seconds=config.mcp_call_timeout_seconds,
        **_certificates(config),
    )
    async with gateway:
        agents = Agents(gateway, callers_bring_keys=True)
        server = build_server(agents, Guide.load(), telemetry, call_timeout_seconds=config.mcp_call_timeout_seconds)
        settings = uvicorn.Config(
            http_app(server, agents, config),
            host=config.host.strip("[]"),
            port=config.port,
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            limit_concurrency=config.mcp_max_concurrent_requests,
            timeout_graceful_shutdown=DRAIN_SECONDS,
        )
        await _HttpServer(settings).serve()


class _HttpServer(uvicorn.Server):
    """Ends in order on SIGINT and SIGTERM; uvicorn's own would raise the signal again and so end with its number."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def _own_client(config: McpConfig) -> AsyncClient:
    gateway, key = config.gateway, config.api_key.get_secret_value() if config.api_key else None
    if gateway is None or key is None:
        endpoints = _endpoints(config)
        gateway, key = gateway or str(endpoints["gateway"]), key or str(endpoints["api_key"])
    return AsyncClient.connect(
        gateway,
        key,
        namespace=config.namespace,
        timeout_seconds=config.mcp_call_timeout_seconds,
        **_certificates(config),
    )


def _endpoints(config: McpConfig) -> Mapping[str, object]:
    path = config.endpoints_file
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict) or not content.get("gateway") or not content.get("api_key"):
        raise invalid_field(
            "gateway",
            f"set REARVIEW_GATEWAY and REARVIEW_API_KEY, or start a stack with `rearview up`: {path} names no gateway",
        )
    return content


def _certificates(config: McpConfig) -> Any:
    authorities, own = certificates_in(config.gateway_ca_file, config.gateway_cert_file, config.gateway_key_file)
    return {"root_certificates": authorities, "client_certificate": own}
