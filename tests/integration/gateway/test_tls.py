"""TLS on every hop with real certificates, replaced while the gateway and the services behind it run."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from pydantic import SecretStr, ValidationError

from rearview.client import AsyncClient
from rearview.domain.errors import DeadlineExceeded, InvalidFields, Unavailable
from rearview.mcp_adapter.app import _own_client
from rearview.mcp_adapter.config import McpConfig
from rearview.rpc import service_channel
from rearview.rpc.certificates import CertificateFiles
from rearview.rpc.channel import open_channel
from rearview.rpc.tls import server_credentials
from rearview.v1 import memory_service_pb2, tenant_pb2
from rearview.v1.tenant_pb2_grpc import TenantServiceStub
from tests.support.certificates import Authority, Files
from tests.support.grpc_errors import code_of
from tests.support.ports import free_port
from tests.support.running_gateway import OPERATOR_KEY, RunningGateway, bearer, running_gateway
from tests.support.stack import DatabaseUrls

READ = memory_service_pb2.ListSessionsRequest(parent="namespaces/default")


@dataclass
class Secured:
    """A gateway with TLS towards its callers and mutual TLS towards the services behind it."""

    gateway: RunningGateway
    public: Authority
    inner: Authority
    public_files: Files
    services_files: Files
    gateway_files: Files
    key: str = ""

    async def through(self) -> grpc.StatusCode:
        """Return how a call ends that goes through both hops."""
        return await code_of(self.gateway.memories.ListSessions(READ, metadata=bearer(self.key)))


@asynccontextmanager
async def secured(database: DatabaseUrls, folder: Path, **settings: Any) -> AsyncIterator[Secured]:
    public, inner = Authority("public"), Authority("inner")
    public_files = Files(folder / "public").put(public.issue("gateway"), public.pem)
    services_files = Files(folder / "services").put(inner.issue("services"), inner.pem)
    gateway_files = Files(folder / "gateway").put(inner.issue("gateway"), inner.pem)
    async with running_gateway(
        database,
        authorities=public.pem,
        behind_credentials=lambda: server_credentials(files_of(services_files), mutual=True),
        tls_cert_file=public_files.certificate,
        tls_key_file=public_files.key,
        services_cert_file=gateway_files.certificate,
        services_key_file=gateway_files.key,
        services_ca_file=gateway_files.authorities,
        **settings,
    ) as gateway:
        made = Secured(gateway, public, inner, public_files, services_files, gateway_files)
        made.key = await gateway.new_tenant("acme")
        yield made


def files_of(files: Files) -> CertificateFiles:
    return CertificateFiles(files.certificate, files.key, files.authorities)


async def listing(address: str, credentials: grpc.ChannelCredentials | None) -> grpc.StatusCode:
    """Return how a call of a new client ends."""
    async with open_channel(address, credentials=credentials) as channel:
        call = TenantServiceStub(channel).ListTenants(
            tenant_pb2.ListTenantsRequest(), metadata=bearer(OPERATOR_KEY), timeout=30
        )
        return await code_of(call)


async def refuses(address: str, credentials: grpc.ChannelCredentials | None) -> None:
    """Check that a service does not even tell its health to a new client."""
    async with open_channel(address, credentials=credentials) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        check = stub.Check(health_pb2.HealthCheckRequest(), timeout=30)
        assert await code_of(check) is grpc.StatusCode.UNAVAILABLE


async def test_both_hops_are_encrypted_and_strangers_stay_outside(database: DatabaseUrls, tmp_path: Path) -> None:
    stranger = Authority("stranger")
    async with secured(database, tmp_path) as made:
        assert await made.through() is grpc.StatusCode.OK
        address = f"127.0.0.1:{made.gateway.port}"
        assert await listing(address, None) is grpc.StatusCode.UNAVAILABLE
        assert await listing(address, grpc.ssl_channel_credentials(stranger.pem)) is grpc.StatusCode.UNAVAILABLE
        assert await listing(address, grpc.ssl_channel_credentials(made.public.pem)) is grpc.StatusCode.OK

        behind, theirs = made.gateway.retriever, stranger.issue("gateway")
        before = len(behind.calls)
        for credentials in (
            None,
            grpc.ssl_channel_credentials(made.inner.pem),
            grpc.ssl_channel_credentials(made.inner.pem, theirs.key, theirs.certificate),
        ):
            await refuses(behind.address, credentials)
        assert len(behind.calls) == before


async def test_the_gateway_does_not_speak_to_services_that_cannot_prove_themselves(
    database: DatabaseUrls, tmp_path: Path
) -> None:
    async with secured(database, tmp_path) as made:
        stranger = Authority("stranger")
        # The services have certificates of a stranger, and would accept the gateway's own.
        made.services_files.put(stranger.issue("services"), made.inner.pem)
        made.gateway_files.put(made.inner.issue("gateway"), made.inner.pem)
        await made.gateway.retriever.die()
        async with made.gateway.retriever.serving():
            assert await made.through() is grpc.StatusCode.UNAVAILABLE
            assert made.gateway.retriever.calls == []


async def test_certificates_are_replaced_while_calls_go_on(
    database: DatabaseUrls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_channel, "LOOK_AGAIN_SECONDS", 0.0)
    async with secured(database, tmp_path) as made:
        assert await made.through() is grpc.StatusCode.OK
        # Towards callers: a certificate of another authority.
        public = Authority("public, next year")
        made.public_files.put(public.issue("gateway"), public.pem)
        address = f"127.0.0.1:{made.gateway.port}"
        assert await listing(address, grpc.ssl_channel_credentials(public.pem)) is grpc.StatusCode.OK
        assert await listing(address, grpc.ssl_channel_credentials(made.public.pem)) is grpc.StatusCode.UNAVAILABLE
        assert await made.through() is grpc.StatusCode.OK  # on the connection that was open before

        # Behind: both authorities are trusted, then everybody gets a new certificate, then the old one is dropped.
        new = Authority("inner, next year")
        both = made.inner.pem + new.pem
        old = made.inner.issue("gateway")
        made.services_files.put(made.inner.issue("services"), both)
        made.gateway_files.put(old, both)
        assert await made.through() is grpc.StatusCode.OK
        made.services_files.put(new.issue("services"), both)
        made.gateway_files.put(new.issue("gateway"), both)
        assert await made.through() is grpc.StatusCode.OK
        behind = made.gateway.retriever
        await behind.die()  # so that nothing goes on over a connection of before
        made.services_files.put(new.issue("services"), new.pem)
        made.gateway_files.put(new.issue("gateway"), new.pem)
        async with behind.serving():
            assert await made.through() is grpc.StatusCode.OK
            await refuses(behind.address, grpc.ssl_channel_credentials(new.pem, old.key, old.certificate))


async def test_files_that_are_no_good_change_nothing(
    database: DatabaseUrls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_channel, "LOOK_AGAIN_SECONDS", 0.0)
    async with secured(database, tmp_path) as made:
        address, trusted = f"127.0.0.1:{made.gateway.port}", grpc.ssl_channel_credentials(made.public.pem)
        for files, authority in ((made.public_files, made.public), (made.gateway_files, made.inner)):
            files.key.write_bytes(authority.issue("another").key)  # half of a replacement
            assert await listing(address, trusted) is grpc.StatusCode.OK
            assert await made.through() is grpc.StatusCode.OK
            files.certificate.write_text("-----BEGIN CERTIFICATE-----\n")
            assert await listing(address, trusted) is grpc.StatusCode.OK
            assert await made.through() is grpc.StatusCode.OK
            files.authorities.unlink()
            assert await listing(address, trusted) is grpc.StatusCode.OK
            assert await made.through() is grpc.StatusCode.OK


async def test_a_gateway_may_ask_its_callers_for_certificates(database: DatabaseUrls, tmp_path: Path) -> None:
    callers = Authority("callers")
    (tmp_path / "callers.crt").write_bytes(callers.pem)
    inner = callers.issue("a client")
    files = Files(tmp_path / "public").put(callers.issue("gateway"), callers.pem)
    async with running_gateway(
        database,
        tls_cert_file=files.certificate,
        tls_key_file=files.key,
        tls_client_ca_file=tmp_path / "callers.crt",
    ) as gateway:
        address = f"127.0.0.1:{gateway.port}"
        assert await listing(address, grpc.ssl_channel_credentials(callers.pem)) is grpc.StatusCode.UNAVAILABLE
        credentials = grpc.ssl_channel_credentials(callers.pem, inner.key, inner.certificate)
        assert await listing(address, credentials) is grpc.StatusCode.OK


async def test_client_adapter_and_commands_bring_their_certificate(database: DatabaseUrls, tmp_path: Path) -> None:
    callers = Authority("callers")
    served = Files(tmp_path / "public").put(callers.issue("gateway"), callers.pem)
    own = Files(tmp_path / "caller").put(callers.issue("a client"), callers.pem)
    pair = (own.certificate.read_bytes(), own.key.read_bytes())
    async with running_gateway(
        database,
        tls_cert_file=served.certificate,
        tls_key_file=served.key,
        tls_client_ca_file=served.authorities,
    ) as gateway:
        address = f"https://127.0.0.1:{gateway.port}"
        async with AsyncClient.connect(
            address, OPERATOR_KEY, root_certificates=callers.pem, client_certificate=pair, timeout_seconds=60
        ) as client:
            admin = (await client.create_tenant("acme")).secret
        async with AsyncClient.connect(address, admin, root_certificates=callers.pem, timeout_seconds=3) as client:
            with pytest.raises((Unavailable, DeadlineExceeded)):
                await client.get_namespace()
        files = {"ca": own.authorities, "cert": own.certificate, "key": own.key}
        config = McpConfig(
            gateway=address,
            api_key=SecretStr(admin),
            mcp_call_timeout_seconds=60,
            gateway_ca_file=own.authorities,
            gateway_cert_file=own.certificate,
            gateway_key_file=own.key,
        )
        async with _own_client(config) as client:
            assert (await client.get_namespace()).name == "namespaces/default"
        listed = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "rearview.cli", "keys", "list", "--json", "--gateway", address),
            env={
                **os.environ,
                "REARVIEW_API_KEY": admin,
                **{f"REARVIEW_GATEWAY_{name.upper()}_FILE": str(file) for name, file in files.items()},
            },
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await listed.communicate()
        assert [key["principal"] for key in json.loads(told)["api_keys"]] == ["admin"]


def test_a_certificate_that_cannot_serve_is_refused_before_any_call() -> None:
    one, other = Authority("callers").issue("a"), Authority("callers").issue("b")
    for certificate, field in (
        ((one.certificate, other.key), "client_certificate[1]"),
        ((b"none", one.key), "client_certificate[0]"),
        ((one.certificate, b"none"), "client_certificate[1]"),
    ):
        with pytest.raises(InvalidFields) as caught:
            AsyncClient.connect("https://127.0.0.1:1", "key", client_certificate=certificate)
        assert caught.value.violations[0].field == field
    with pytest.raises(InvalidFields, match="https"):
        AsyncClient.connect("http://127.0.0.1:1", "key", client_certificate=(one.certificate, one.key))
    with pytest.raises(ValidationError, match="REARVIEW_GATEWAY_CERT_FILE"):
        McpConfig(gateway_key_file=Path("tls.key"))


async def test_probes_that_know_no_tls_have_a_port_with_health_alone(database: DatabaseUrls, tmp_path: Path) -> None:
    port = free_port()
    async with (
        secured(database, tmp_path, health_port=port) as made,
        open_channel(f"127.0.0.1:{port}") as channel,
    ):
        stub: Any = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service="liveness"), timeout=30)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        assert await listing(f"127.0.0.1:{port}", None) is grpc.StatusCode.UNIMPLEMENTED
        assert await made.through() is grpc.StatusCode.OK
