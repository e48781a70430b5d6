"""Streamable HTTP: the endpoint, the metadata that says how to prove oneself, and a sign of life."""

from typing import Any
from urllib.parse import urlsplit

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rearview.mcp_adapter.agents import Agents
from rearview.mcp_adapter.bearer import BearerGate, TokenCheck
from rearview.mcp_adapter.config import LOOPBACK, McpConfig, listed
from rearview.mcp_adapter.resumption import ResumableSessionManager

METADATA_PATH = "/.well-known/oauth-protected-resource"
HEALTH_PATH = "/healthz"
RETRY_MILLISECONDS = 1_000
MAX_REQUEST_BYTES = 4 * 1024 * 1024


def http_app(server: Server[Any], agents: Agents, config: McpConfig) -> Starlette:
    """Return the ASGI application. Its lifespan runs the sessions."""
    resource = urlsplit(config.resource_url)
    path = resource.path.rstrip("/") or "/"
    metadata_path = f"{METADATA_PATH}{path if path != '/' else ''}"
    security = security_settings(config)
    sessions = ResumableSessionManager(
        server,
        security_settings=security,
        retry_interval=RETRY_MILLISECONDS,
        session_idle_timeout=config.mcp_session_idle_seconds,
        max_sessions=config.mcp_max_sessions,
        max_request_body_size=MAX_REQUEST_BYTES,
    )
    gate = BearerGate(
        StreamableHTTPASGIApp(sessions),
        TokenCheck(agents, remember_seconds=config.mcp_token_check_seconds),
        security,
        metadata_url=f"{resource.scheme}://{resource.netloc}{metadata_path}",
    )

    async def metadata(_: Request) -> Response:
        return JSONResponse(resource_metadata(config), headers={"Cache-Control": "max-age=3600"})

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    routes = [Route(path, endpoint=gate), Route(metadata_path, metadata), Route(HEALTH_PATH, health)]
    if metadata_path != METADATA_PATH:
        routes.append(Route(METADATA_PATH, metadata))
    return Starlette(routes=routes, lifespan=lambda _: sessions.run())


def resource_metadata(config: McpConfig) -> dict[str, object]:
    """Return the metadata of the protected resource (RFC 9728)."""
    told: dict[str, object] = {
        "resource": config.resource_url,
        "resource_name": "Rearview memory",
        "bearer_methods_supported": ["header"],
    }
    issuers = listed(config.mcp_authorization_servers)
    return told | {"authorization_servers": issuers} if issuers else told


def security_settings(config: McpConfig) -> TransportSecuritySettings:
    """Return which Host and Origin headers are served: the loopback's, and those that are configured."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{host}:*" for host in LOOPBACK] + listed(config.mcp_allowed_hosts),
        allowed_origins=[f"http://{host}:*" for host in LOOPBACK] + listed(config.mcp_allowed_origins),
    )
