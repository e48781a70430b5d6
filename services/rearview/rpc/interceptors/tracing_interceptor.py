"""One server span a call, where spans are exported at all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rearview.rpc.call_context import current_request_id
from rearview.rpc.interceptors.call_interceptor import CallInterceptor, IncomingCall
from rearview.rpc.interceptors.outcome import code_name
from rearview.telemetry.trace_context import TRACEPARENT
from rearview.telemetry.tracing import Tracing


class TracingInterceptor(CallInterceptor):
    """Continues the caller's trace (W3C `traceparent`); costs nothing while tracing is not configured."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing

    @asynccontextmanager
    async def around(self, call: IncomingCall) -> AsyncIterator[None]:
        """Serve the call within a span."""
        if call.is_of_platform or not self._tracing.enabled:
            yield
            return
        with self._tracing.server_span(call.method.lstrip("/"), call.text(TRACEPARENT)) as span:
            span.set_attribute("rearview.request_id", current_request_id())
            error: BaseException | None = None
            try:
                yield
            except BaseException as raised:
                error = raised
                raise
            finally:
                span.set_attribute("rpc.grpc.status", code_name(error, call.method_name, call.context))
