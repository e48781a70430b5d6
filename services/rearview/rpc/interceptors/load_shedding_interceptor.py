"""Calls wait for their turn, and those that are too many are sent away before any work is done for them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from rearview.rpc.call_context import time_left_seconds
from rearview.rpc.call_gate import CallGate, GateLimits, Shed
from rearview.rpc.interceptors.call_interceptor import CallInterceptor, IncomingCall
from rearview.rpc.interceptors.outcome import DEADLINE_MARGIN_SECONDS
from rearview.telemetry.metrics import Metrics

_SHARE_OF_STREAMS = 4


class LoadSheddingInterceptor(CallInterceptor):
    """Gives each party its turns; grpc's own methods (health probes) need none.

    Streams last long and have turns of their own, a quarter as many, so that they cannot take those of others.
    """

    def __init__(
        self, service: str, limits: GateLimits, metrics: Metrics, party_of: Callable[[IncomingCall], str]
    ) -> None:
        """`party_of` says whose turn a call takes."""
        self._party_of = party_of
        shed = metrics.counter("calls_shed", "Calls that were sent away before any work, by cause.", ("cause",))
        for cause in Shed:
            shed.labels(cause.value)

        def on_shed(cause: Shed) -> None:
            shed.labels(cause.value).inc()

        of_streams = GateLimits(max(1, limits.running // _SHARE_OF_STREAMS), limits.waiting, limits.wait_seconds)
        self._calls = CallGate(service, limits, on_shed)
        self._streams = CallGate(service, of_streams, on_shed)
        metrics.gauge("calls_waiting", "Calls that wait for their turn.").set_function(
            lambda: self._calls.waiting + self._streams.waiting
        )

    @asynccontextmanager
    async def around(self, call: IncomingCall) -> AsyncIterator[None]:
        """Serve the call when it is its turn.

        Raises:
            Overloaded: there are too many.
            DeadlineExceeded: the caller's time ran out meanwhile.
        """
        if call.is_of_platform:
            yield
            return
        left = time_left_seconds()
        gate = self._streams if call.streaming else self._calls
        async with gate.turn(self._party_of(call), None if left is None else left - DEADLINE_MARGIN_SECONDS):
            yield
