"""The adapter's configuration."""

import pytest
from pydantic import SecretStr, ValidationError

from rearview.mcp_adapter.config import McpConfig
from rearview.mcp_adapter.http import resource_metadata, security_settings
from rearview.rpc.service_config import problems_of


def test_beyond_the_loopback_the_hosts_must_be_told() -> None:
    with pytest.raises(ValidationError) as refused:
        McpConfig(mcp_listen="0.0.0.0:8808")
    assert "REARVIEW_MCP_ALLOWED_HOSTS" in problems_of(refused.value)[0]
    served = security_settings(McpConfig(mcp_listen="0.0.0.0:8808", mcp_allowed_hosts="mcp.example.com:*, mcp:8808"))
    assert {"mcp.example.com:*", "mcp:8808", "127.0.0.1:*"} <= set(served.allowed_hosts)


def test_the_metadata_names_the_resource_and_where_tokens_come_from() -> None:
    config = McpConfig(
        mcp_listen="127.0.0.1:8808",
        mcp_public_url="https://mcp.example.com/agents/mcp",
        mcp_authorization_servers="https://login.example.com",
    )
    assert resource_metadata(config) == {
        "resource": "https://mcp.example.com/agents/mcp",
        "resource_name": "Rearview memory",
        "bearer_methods_supported": ["header"],
        "authorization_servers": ["https://login.example.com"],
    }
    assert resource_metadata(McpConfig(mcp_listen="[::1]:9"))["resource"] == "http://[::1]:9/mcp"


def test_secrets_are_not_shown() -> None:
    assert "rv_secret" not in repr(McpConfig(api_key=SecretStr("rv_secret")))
