"""Whether what the gateway depends on answers: told to health probes, the log and the metrics."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import grpc
import grpc.aio
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc

from rearview.domain.errors import RearviewError
from rearview.telemetry.metrics import Metrics

_PROBE_TIMEOUT_SECONDS = 2.0

_log = structlog.get_logger(__name__)

Probe = Callable[[], Awaitable[None]]


class Dependencies:
    """Asks all dependencies at once.

    The gateway is ready while the needed ones answer. Without a service behind, the methods that it does fail with
    UNAVAILABLE and the others go on, so those do not count.
    """

    def __init__(self, needed: Mapping[str, Probe], behind: Mapping[str, Probe], metrics: Metrics) -> None:
        self._needed = needed
        self._probes = {**needed, **behind}
        self._up = metrics.gauge("dependency_up", "1 while a dependency answers, else 0.", ("dependency",))
        self._known: dict[str, bool] = {}

    async def ready(self) -> bool:
        """Return whether the needed dependencies answer; report changes of any."""
        names = list(self._probes)
        answers = await asyncio.gather(*(self._answers(name) for name in names))
        for name, up in zip(names, answers, strict=True):
            self._up.labels(name).set(up)
            if self._known.get(name) is not up:
                (_log.info if up else _log.warning)("dependency", dependency=name, up=up)
                self._known[name] = up
        return all(self._known[name] for name in self._needed)

    async def _answers(self, name: str) -> bool:
        try:
            async with asyncio.timeout(_PROBE_TIMEOUT_SECONDS):
                await self._probes[name]()
        except (RearviewError, grpc.RpcError, TimeoutError, ConnectionError):
            return False
        return True


def health_probe(channel: grpc.aio.Channel) -> Probe:
    """Return a probe that asks a service's standard health service."""

    async def probe() -> None:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # its type hints do not know asyncio
        answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=_PROBE_TIMEOUT_SECONDS)
        if answer.status != health_pb2.HealthCheckResponse.SERVING:
            raise ConnectionError("not serving")

    return probe
