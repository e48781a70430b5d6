"""The adapter's configuration, from the environment."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from rearview.client.connection import DEFAULT_ENDPOINTS
from rearview.rpc.settings import Listen, Settings

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class McpConfig(Settings):
    """Read once; the variables carry the prefix `REARVIEW_`. Lists are separated by commas.

    Attributes:
        gateway: `host:port`, or `https://host:port`; without it the endpoints file says where.
        gateway_ca_file: root certificates of the gateway, PEM; without it those of the system.
        gateway_cert_file, gateway_key_file: the adapter's own certificate and its key, PEM, for a gateway that asks its
            callers for one; read when the adapter starts.
        api_key: the key of the agent on stdio; without it the endpoints file's. Callers over HTTP bring their own.
        endpoints_file: what a one-machine stack wrote down.
        namespace: where calls go that name none.
        mcp_listen: where HTTP is served; without it the adapter speaks on stdin and stdout.
        mcp_public_url: the URL by which clients reach the HTTP endpoint; default `http://<mcp_listen>/mcp`.
        mcp_authorization_servers: issuers named by the resource metadata, where tokens come from one.
        mcp_allowed_hosts: Host headers that are served besides those of the loopback, `name:port` or `name:*`.
        mcp_allowed_origins: Origin headers that are served besides those of the loopback.
        mcp_call_timeout_seconds: deadline of a tool call, all attempts together.
        mcp_token_check_seconds: how long a token that the gateway accepted is not asked about again.
        mcp_max_sessions: further sessions are refused with 503.
        mcp_session_idle_seconds: after that a session without a request ends.
        mcp_max_concurrent_requests: further HTTP requests are refused with 503.
        mcp_metrics_port: where Prometheus metrics are served, on the interface of `mcp_listen`, or on the loopback for
            stdio; none without it.
    """

    gateway: str | None = None
    gateway_ca_file: Path | None = None
    gateway_cert_file: Path | None = None
    gateway_key_file: Path | None = Field(default=None, validate_default=True)
    api_key: SecretStr | None = None
    endpoints_file: Path = Path(DEFAULT_ENDPOINTS)
    namespace: str = Field(default="default", min_length=1)
    mcp_listen: Listen | None = None
    mcp_public_url: str | None = Field(default=None, pattern=r"^https?://[^\s/?#]+(/[^\s?#]*)?$")
    mcp_authorization_servers: str = ""
    mcp_allowed_hosts: str = Field(default="", validate_default=True)
    mcp_allowed_origins: str = ""
    mcp_call_timeout_seconds: float = Field(default=10.0, gt=0, le=120)
    mcp_token_check_seconds: float = Field(default=1.0, ge=0, le=60)
    mcp_max_sessions: int = Field(default=1_000, ge=1, le=100_000)
    mcp_session_idle_seconds: float = Field(default=1_800.0, gt=0, le=86_400)
    mcp_max_concurrent_requests: int = Field(default=1_024, ge=1, le=100_000)
    mcp_metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("gateway_key_file")
    @classmethod
    def _key_goes_with_a_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if "gateway_cert_file" in info.data and (key is None) != (info.data["gateway_cert_file"] is None):
            raise ValueError("is needed with REARVIEW_GATEWAY_CERT_FILE, and only with it")
        return key

    @field_validator("mcp_allowed_hosts")
    @classmethod
    def _hosts_are_told(cls, hosts: str, info: ValidationInfo) -> str:
        listen = info.data.get("mcp_listen")
        if listen and listen.rpartition(":")[0] not in LOOPBACK and not hosts:
            raise ValueError("must say which Host headers are served when REARVIEW_MCP_LISTEN is not the loopback")
        return hosts

    @property
    def host(self) -> str:
        """The host of `mcp_listen`, empty on stdio."""
        return (self.mcp_listen or "").rpartition(":")[0]

    @property
    def port(self) -> int:
        """The port of `mcp_listen`, 0 on stdio."""
        return int((self.mcp_listen or ":0").rpartition(":")[2])

    @property
    def resource_url(self) -> str:
        """The URL of the HTTP endpoint, which is the OAuth resource."""
        return self.mcp_public_url or f"http://{self.mcp_listen}/mcp"


def listed(text: str) -> list[str]:
    """Return the parts of a list that is separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
