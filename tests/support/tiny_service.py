"""A real gRPC server with the standard health service, standing in for a service of ours under the supervisor.

It says in a journal file when it starts and when it has drained. `TINY_STUBBORN` makes it ignore SIGTERM,
`TINY_BROKEN` end at once. As the gateway it also answers CreateTenant, CreateApiKey and GrantAccess, out of memory.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent import futures
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from rearview.embedded.environment import LISTEN, OPERATOR_KEY
from rearview.v1 import namespace_pb2, namespace_pb2_grpc, tenant_pb2, tenant_pb2_grpc


class TinyTenants(tenant_pb2_grpc.TenantServiceServicer):
    """Makes each tenant once for the operator, and keys for whoever holds an admin's secret."""

    def __init__(self, state: Path, operator_key: str) -> None:
        self._state = state
        self._operator_key = operator_key

    def CreateTenant(  # noqa: N802
        self, request: tenant_pb2.CreateTenantRequest, context: grpc.ServicerContext
    ) -> tenant_pb2.CreateTenantResponse:
        self._require(context, self._operator_key)
        marker = self._state / f"tenant-{request.tenant_id}"
        if marker.exists():
            context.abort(grpc.StatusCode.ALREADY_EXISTS, "tenant exists")
        marker.touch()
        return tenant_pb2.CreateTenantResponse(secret=f"admin-of-{request.tenant_id}")

    def CreateApiKey(  # noqa: N802
        self, request: tenant_pb2.CreateApiKeyRequest, context: grpc.ServicerContext
    ) -> tenant_pb2.CreateApiKeyResponse:
        self._require(context, "admin-of-")
        return tenant_pb2.CreateApiKeyResponse(
            secret=f"{request.api_key.principal}-{tenant_pb2.PrincipalRole.Name(request.api_key.role)}"
        )

    def _require(self, context: grpc.ServicerContext, secret: str) -> None:
        sent = dict(context.invocation_metadata()).get("authorization", "")
        if not str(sent).startswith(f"Bearer {secret}"):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong credential")


class TinyNamespaces(namespace_pb2_grpc.NamespaceServiceServicer):
    """Grants whatever is asked for."""

    def GrantAccess(  # noqa: N802
        self, request: namespace_pb2.GrantAccessRequest, context: grpc.ServicerContext
    ) -> namespace_pb2.AccessGrant:
        return namespace_pb2.AccessGrant(namespace=request.name, principal=request.principal, access=request.access)


def main(name: str, journal: Path) -> None:
    """Serve until SIGTERM, then drain."""
    if os.environ.get("TINY_BROKEN") == name:
        sys.exit(f"{name} is broken on purpose")
    # A pipe, since a dying supervisor sends a signal for each of its threads, and a handler that takes a lock while
    # another one holds it would wait for itself.
    stop, stopping = os.pipe()
    stubborn = os.environ.get("TINY_STUBBORN") == name
    signal.signal(signal.SIGTERM, signal.SIG_IGN if stubborn else lambda *_: os.write(stopping, b"."))
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    servicer = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    if name == "gateway":
        tenant_pb2_grpc.add_TenantServiceServicer_to_server(
            TinyTenants(journal.parent, os.environ[OPERATOR_KEY]),  # type: ignore[abstract]
            server,
        )
        namespace_pb2_grpc.add_NamespaceServiceServicer_to_server(
            TinyNamespaces(),  # type: ignore[abstract]
            server,
        )
    server.add_insecure_port(os.environ[LISTEN])
    server.start()
    servicer.set("", health_pb2.HealthCheckResponse.SERVING)
    _note(journal, f"start {name}")
    sys.stdout.write(f"{name} serves 服务已启动\n")
    sys.stdout.flush()
    os.read(stop, 1)
    server.stop(grace=1).wait()
    _note(journal, f"drained {name}")


def _note(journal: Path, text: str) -> None:
    with journal.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
