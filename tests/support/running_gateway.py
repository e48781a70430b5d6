"""A gateway in this process, over a real database and stand-ins of the services behind it."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
from pydantic import SecretStr

from rearview.gateway.app import run_gateway
from rearview.gateway.config import GatewayConfig
from rearview.ports.clock import Clock
from rearview.ports.embedder import Embedder
from rearview.rpc.channel import open_channel
from rearview.v1 import tenant_pb2
from rearview.v1.lifecycle_pb2_grpc import LifecycleServiceStub
from rearview.v1.memory_service_pb2_grpc import MemoryServiceStub
from rearview.v1.namespace_pb2_grpc import NamespaceServiceStub
from rearview.v1.tenant_pb2_grpc import TenantServiceStub

if TYPE_CHECKING:  # the generated code has these types in its hints only
    from rearview.v1.lifecycle_pb2_grpc import LifecycleServiceAsyncStub
    from rearview.v1.memory_service_pb2_grpc import MemoryServiceAsyncStub
    from rearview.v1.namespace_pb2_grpc import NamespaceServiceAsyncStub
    from rearview.v1.tenant_pb2_grpc import TenantServiceAsyncStub

from tests.support.hash_embedder import HashEmbedder
from tests.support.recording_backend import RecordingBackend, three_backends
from tests.support.stack import DatabaseUrls

OPERATOR_KEY = f"rv_operator_{secrets.token_urlsafe(32)}"


@dataclass
class RunningGateway:
    """What a test needs of a gateway: stubs of its services, its operator's key, what stands behind it."""

    port: int
    channel: grpc.aio.Channel
    writer: RecordingBackend
    retriever: RecordingBackend
    lifecycle: RecordingBackend
    embedder: HashEmbedder

    @property
    def memories(self) -> "MemoryServiceAsyncStub":
        return MemoryServiceStub(self.channel)

    @property
    def namespaces(self) -> "NamespaceServiceAsyncStub":
        return NamespaceServiceStub(self.channel)

    @property
    def tenants(self) -> "TenantServiceAsyncStub":
        return TenantServiceStub(self.channel)

    @property
    def lifecycles(self) -> "LifecycleServiceAsyncStub":
        return LifecycleServiceStub(self.channel)

    async def new_tenant(self, name: str, **quotas: int) -> str:
        """Return the secret of a new tenant's first admin key."""
        created = await self.tenants.CreateTenant(
            tenant_pb2.CreateTenantRequest(
                tenant_id=name, tenant=tenant_pb2.Tenant(quotas=tenant_pb2.Quotas(**quotas))
            ),
            metadata=bearer(OPERATOR_KEY),
        )
        return created.secret

    async def new_key(
        self,
        admin: str,
        principal: str,
        role: str = "WRITE",
        namespaces: tuple[str, ...] = (),
        requests_per_second: int = 0,
    ) -> str:
        """Return the secret of a new key."""
        created = await self.tenants.CreateApiKey(
            tenant_pb2.CreateApiKeyRequest(
                api_key=tenant_pb2.ApiKey(
                    principal=principal,
                    role=tenant_pb2.PrincipalRole.Value(f"PRINCIPAL_ROLE_{role}"),
                    namespaces=[f"namespaces/{name}" for name in namespaces],
                    requests_per_second=requests_per_second,
                )
            ),
            metadata=bearer(admin),
        )
        return created.secret


def bearer(key: str) -> Any:
    """Return the metadata that carries a key."""
    return (("authorization", f"Bearer {key}"),)


@asynccontextmanager
async def running_gateway(
    database: DatabaseUrls,
    *,
    internal_key: str | None = None,
    model: Embedder | None = None,
    clock: Clock | None = None,
    retriever_address: str | None = None,
    authorities: bytes | None = None,
    behind_credentials: Callable[[], grpc.ServerCredentials] | None = None,
    **settings: Any,
) -> AsyncIterator[RunningGateway]:
    """Serve a gateway on a free port as long as the context lasts; with a real model (closed with the gateway), and a
    real retriever of the same internal key, where they are given.

    `authorities` (PEM) are those that a client of a gateway with TLS trusts.
    """
    credentials = None if authorities is None else grpc.ssl_channel_credentials(authorities)
    internal_key = internal_key or secrets.token_urlsafe(32)
    stop, started = asyncio.Event(), asyncio.get_running_loop().create_future()
    async with three_backends(internal_key, behind_credentials) as behind:
        config = GatewayConfig(
            listen="127.0.0.1:0",
            database_url=SecretStr(database.service),
            operator_database_url=SecretStr(database.operator),
            internal_key=SecretStr(internal_key),
            operator_key=SecretStr(OPERATOR_KEY),
            writer_address=behind["writer"].address,
            retriever_address=retriever_address or behind["retriever"].address,
            lifecycle_address=behind["lifecycle"].address,
            drain_seconds=1.0,
            **settings,
        )
        embedder = HashEmbedder()
        serving = asyncio.create_task(
            run_gateway(config, embedder=model or embedder, clock=clock, stop=stop, on_started=started.set_result)
        )
        try:
            await asyncio.wait({serving, started}, return_when=asyncio.FIRST_COMPLETED)
            if not started.done():
                await serving
            port = await started
            embedder.queries.clear()
            async with open_channel(f"127.0.0.1:{port}", credentials=credentials) as channel:
                yield RunningGateway(
                    port, channel, behind["writer"], behind["retriever"], behind["lifecycle"], embedder
                )
        finally:
            stop.set()
            await serving
