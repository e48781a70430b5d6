"""One whole stack for all acceptance tests, started as `rearview up` starts it, and clients that speak to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rearview.client import Client
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.ingest import fresh_namespace
from tests.support.mcp_adapter import HttpAdapter
from tests.support.otlp_receiver import OtlpReceiver
from tests.support.supervised_stack import SupervisedStack, throwaway_stack

WHOLE_STACK = ("-m", "rearview.cli", "up", "--foreground")
CALL_TIMEOUT_SECONDS = 30.0


@pytest.fixture(scope="session")
def traces() -> Iterator[OtlpReceiver]:
    """Takes the spans of the session's stack and adapter."""
    with OtlpReceiver() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def stack(traces: OtlpReceiver) -> Iterator[SupervisedStack]:
    """The session's PostgreSQL, Valkey, S3 and four services under their supervisor."""
    with throwaway_stack("acceptance", WHOLE_STACK, environment=traces.variables) as opened:
        yield opened


@pytest.fixture(scope="session")
def endpoints(stack: SupervisedStack) -> Endpoints:
    """Addresses and keys of the session's stack."""
    return stack.endpoints()


@pytest.fixture(scope="session")
def admin(endpoints: Endpoints) -> Iterator[Client]:
    """The first tenant's admin."""
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    with Client.connect(endpoints.gateway, endpoints.admin_key, timeout_seconds=CALL_TIMEOUT_SECONDS) as client:
        yield client


@pytest.fixture(scope="session")
def operator(endpoints: Endpoints) -> Iterator[Client]:
    """The operator, who belongs to no tenant."""
    assert endpoints.gateway is not None
    assert endpoints.operator_key is not None
    with Client.connect(endpoints.gateway, endpoints.operator_key, timeout_seconds=CALL_TIMEOUT_SECONDS) as client:
        yield client


@pytest.fixture(scope="session")
def mcp_adapter(stack: SupervisedStack, traces: OtlpReceiver) -> Iterator[HttpAdapter]:
    """The session's MCP adapter that serves HTTP."""
    adapter = HttpAdapter(stack.folder.root, **traces.variables)
    try:
        yield adapter.wait()
    finally:
        adapter.stop()


@pytest.fixture
def client(admin: Client) -> Client:
    """The admin in a namespace that nothing else uses."""
    return in_fresh_namespace(admin)


def in_fresh_namespace(client: Client) -> Client:
    """Return the client with a namespace of its own as the default."""
    return client.with_options(namespace=fresh_namespace(client, "acceptance"))
