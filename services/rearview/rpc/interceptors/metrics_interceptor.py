"""Rate, errors, duration of every method."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rearview.rpc.interceptors.call_interceptor import CallInterceptor, IncomingCall
from rearview.rpc.interceptors.outcome import code_name, reason_of
from rearview.telemetry.metrics import RequestMetrics


class MetricsInterceptor(CallInterceptor):
    """Counts calls by method and code, and measures their duration by method."""

    def __init__(self, metrics: RequestMetrics) -> None:
        self._metrics = metrics

    @asynccontextmanager
    async def around(self, call: IncomingCall) -> AsyncIterator[None]:
        """Serve the call and count it."""
        if call.is_of_platform:
            yield
            return
        started = time.perf_counter()
        error: BaseException | None = None
        with self._metrics.in_progress():
            try:
                yield
            except BaseException as raised:
                error = raised
                raise
            finally:
                self._metrics.observe(
                    call.method_name,
                    code_name(error, call.method_name, call.context),
                    time.perf_counter() - started,
                    reason_of(error, call.method_name),
                )
