"""How the services are configured and started: all problems at once, no secret shown, a reason for not starting."""

import asyncio
import os
from collections.abc import Callable, Iterator

import pytest

from rearview.domain.errors import Unavailable
from rearview.gateway.__main__ import main as gateway
from rearview.gateway.config import GatewayConfig
from rearview.lifecycle.__main__ import main as lifecycle
from rearview.lifecycle.config import LifecycleConfig
from rearview.retriever.__main__ import main as retriever
from rearview.retriever.config import RetrieverConfig
from rearview.rpc.service_config import ServiceConfig
from rearview.rpc.service_process import meanwhile
from rearview.writer.__main__ import main as writer
from rearview.writer.config import WriterConfig
from tests.unit.telemetry.logging_state import restored_logging

OWN_VARIABLES = {
    GatewayConfig: {
        "OPERATOR_DATABASE_URL": "postgresql://rearview_operator:pw-of-operator@localhost/rearview",
        "WRITER_ADDRESS": "dns:///writer:50052",
        "RETRIEVER_ADDRESS": "localhost:50053",
        "LIFECYCLE_ADDRESS": "[::1]:50054",
    },
    WriterConfig: {"REDIS_URL": "redis://:pw-of-redis@localhost:6379/0"},
    RetrieverConfig: {"REDIS_URL": "redis://:pw-of-redis@localhost:6379/0"},
    LifecycleConfig: {"REDIS_URL": "redis://:pw-of-redis@localhost:6379/0"},
}
MAINS: dict[type[ServiceConfig], Callable[[], int]] = {
    GatewayConfig: gateway,
    WriterConfig: writer,
    RetrieverConfig: retriever,
    LifecycleConfig: lifecycle,
}
services = pytest.mark.parametrize("config_type", MAINS, ids=lambda config_type: config_type.__name__)


@pytest.fixture(autouse=True)
def own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a service sets for its process ends with the test; none of its variables come from outside."""
    for name in [name for name in os.environ if name.startswith("REARVIEW_")]:
        monkeypatch.delenv(name)
    with restored_logging():
        yield


def configure(monkeypatch: pytest.MonkeyPatch, config_type: type[ServiceConfig]) -> None:
    shared = {
        "DATABASE_URL": "postgresql://rearview_service:pw-of-db@localhost/rearview",
        "INTERNAL_KEY": "k" * 32,
    }
    for name, value in {**shared, **OWN_VARIABLES[config_type]}.items():
        monkeypatch.setenv(f"REARVIEW_{name}", value)


@services
def test_what_has_no_default_suffices_and_no_secret_is_shown(
    monkeypatch: pytest.MonkeyPatch, config_type: type[ServiceConfig]
) -> None:
    configure(monkeypatch, config_type)
    config = config_type()  # type: ignore[call-arg]  # the environment gives the arguments
    assert config.listen.startswith("127.0.0.1:")
    for shown in (repr(config), str(config)):
        assert "pw-of" not in shown
        assert "kkkk" not in shown


@services
def test_every_bad_value_is_told_and_none_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config_type: type[ServiceConfig]
) -> None:
    bad = {"INTERNAL_KEY": "short-secret", "LISTEN": "nowhere", "METRICS_PORT": "port-secret", "DRAIN_SECONDS": "-7"}
    for name, value in bad.items():
        monkeypatch.setenv(f"REARVIEW_{name}", value)
    assert MAINS[config_type]() == 2
    told = capsys.readouterr().err
    for name in (*bad, "DATABASE_URL", *OWN_VARIABLES[config_type]):
        assert f"REARVIEW_{name}: " in told
    assert "secret" not in told
    assert "-7" not in told


@pytest.mark.parametrize(
    ("config_type", "variable", "value"),
    [
        (GatewayConfig, "OPERATOR_KEY", "operator-secret"),
        (GatewayConfig, "WRITER_ADDRESS", "secret"),
        (WriterConfig, "EMBEDDER", "magic:secret"),
        (WriterConfig, "WRITER_ROLE", "secret"),
        (WriterConfig, "EXTRACTOR", "openai"),
        (WriterConfig, "EXTRACTOR_TIME_ZONE", "secret/secret"),
        (RetrieverConfig, "RERANKER", "magic:secret"),
        (LifecycleConfig, "INTERNAL_KEY", "s" * 31 + ",secret"),
        (LifecycleConfig, "TLS_KEY_FILE", __file__),
        (LifecycleConfig, "TLS_CLIENT_CA_FILE", __file__),
        (GatewayConfig, "SERVICES_KEY_FILE", __file__),
        (GatewayConfig, "SERVICES_CA_FILE", __file__),
        (GatewayConfig, "JWT_AUDIENCE", "rearview"),
        (GatewayConfig, "JWT_KEYS", __file__),
        (GatewayConfig, "JWT_KEYS", "/nowhere/secret"),
        (GatewayConfig, "JWT_KEYS", "http://issuer.example/secret"),
        (GatewayConfig, "JWT_KEYS", "https://me:secret@issuer.example/keys"),
        (GatewayConfig, "JWT_ALGORITHMS", "HS256"),
        (GatewayConfig, "JWT_ALGORITHMS", "RS256,none"),
        (GatewayConfig, "JWT_ALGORITHMS", ","),
    ],
)
def test_one_bad_value_is_told_alone(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    config_type: type[ServiceConfig],
    variable: str,
    value: str,
) -> None:
    configure(monkeypatch, config_type)
    monkeypatch.setenv(f"REARVIEW_{variable}", value)
    assert MAINS[config_type]() == 2
    told = capsys.readouterr().err
    assert told.startswith(f"REARVIEW_{variable}: ")
    assert len(told.splitlines()) == 1
    assert "secret" not in told


@services
@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "10.1.2.3:0", "writer.internal:0"])
def test_without_tls_only_the_loopback_is_served_unless_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config_type: type[ServiceConfig], listen: str
) -> None:
    configure(monkeypatch, config_type)
    monkeypatch.setenv("REARVIEW_LISTEN", listen)
    assert MAINS[config_type]() == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("REARVIEW_ALLOW_PLAINTEXT: ")
    assert "REARVIEW_TLS_CERT_FILE" in told
    monkeypatch.setenv("REARVIEW_ALLOW_PLAINTEXT", "true")
    assert config_type().listen == listen  # type: ignore[call-arg]
    monkeypatch.setenv("REARVIEW_ALLOW_PLAINTEXT", "false")
    for address in ("127.0.0.1:0", "[::1]:0", "localhost:0", "127.0.0.9:0"):
        monkeypatch.setenv("REARVIEW_LISTEN", address)
        assert config_type().listen == address  # type: ignore[call-arg]


def test_a_service_behind_the_gateway_has_no_tls_without_certificates_of_its_callers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("TLS_CERT_FILE", "TLS_KEY_FILE"):
        monkeypatch.setenv(f"REARVIEW_{name}", __file__)
    configure(monkeypatch, RetrieverConfig)
    assert retriever() == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("REARVIEW_TLS_CLIENT_CA_FILE: ")
    configure(monkeypatch, GatewayConfig)
    monkeypatch.setenv("REARVIEW_LISTEN", "0.0.0.0:0")
    assert GatewayConfig().tls_client_ca_file is None  # type: ignore[call-arg]


def test_files_that_hold_no_certificate_are_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, RetrieverConfig)
    for name in ("TLS_CERT_FILE", "TLS_KEY_FILE", "TLS_CLIENT_CA_FILE"):
        monkeypatch.setenv(f"REARVIEW_{name}", __file__)
    assert retriever() == 1
    assert f"the retriever cannot start: {__file__}: holds no" in capsys.readouterr().err


def test_a_service_that_cannot_bind_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, RetrieverConfig)
    monkeypatch.setenv("REARVIEW_LISTEN", "203.0.113.1:1")
    monkeypatch.setenv("REARVIEW_ALLOW_PLAINTEXT", "true")
    assert retriever() == 1
    assert "the retriever cannot start: 203.0.113.1:1 cannot be bound" in capsys.readouterr().err


async def test_work_beside_the_serving_is_cancelled_by_the_stop() -> None:
    stopping, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with meanwhile(work(), stopping):
        assert not stopping.is_set()
        await asyncio.sleep(0)
        stopping.set()
        await ended.wait()


async def test_work_that_fails_stops_the_process_and_says_why() -> None:
    stopping = asyncio.Event()

    async def work() -> None:
        raise Unavailable("postgresql does not answer", dependency="postgresql")

    with pytest.raises(Unavailable):
        async with meanwhile(work(), stopping):
            await stopping.wait()
