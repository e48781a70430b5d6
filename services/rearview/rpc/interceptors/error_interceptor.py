"""Outermost: begins the call's context and turns what a handler raises into the documented errors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio
import structlog

from rearview.domain.errors import DeadlineExceeded, InternalError, RearviewError
from rearview.rpc import errors
from rearview.rpc.call_context import REQUEST_ID_KEY, begin_call, time_left_seconds
from rearview.rpc.interceptors.call_interceptor import CallInterceptor, Context, IncomingCall
from rearview.rpc.interceptors.outcome import DEADLINE_MARGIN_SECONDS, is_cancelled_call, told_to_caller
from rearview.telemetry.logs import describe_exception
from rearview.telemetry.trace_context import TRACEPARENT, enter_trace, new_trace, parse_traceparent

_log = structlog.get_logger(__name__)


class ErrorInterceptor(CallInterceptor):
    """Every failure leaves as a typed error; what is not one is a bug, logged, and told as INTERNAL only.

    Also binds request id, deadline and trace of the call, and returns the request id in the trailing metadata.
    """

    @asynccontextmanager
    async def around(self, call: IncomingCall) -> AsyncIterator[None]:
        """Serve the call; abort it with a rich status if it fails."""
        request_id = begin_call(call.text(REQUEST_ID_KEY), call.context.time_remaining())
        incoming = parse_traceparent(call.text(TRACEPARENT))
        enter_trace(incoming.child() if incoming else new_trace())
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            yield
        except grpc.aio.AbortError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            if is_cancelled_call(error):
                raise
            told = told_to_caller(error, call.method_name)
            if isinstance(told, InternalError):
                _log.error("unexpected error", method=call.method.lstrip("/"), exception=describe_exception(error))
            await _abort(call.context, told, request_id)
        else:
            if not call.is_of_platform:
                call.context.set_trailing_metadata(
                    (*(call.context.trailing_metadata() or ()), (REQUEST_ID_KEY, request_id))
                )

    async def within_limits(self, step: Awaitable[Any]) -> Any:
        """Await one step, but not longer than the caller waits."""
        left = time_left_seconds()
        if left is None:
            return await step
        try:
            async with asyncio.timeout(max(left - DEADLINE_MARGIN_SECONDS, 0.0)) as limit:
                return await step
        except TimeoutError:
            if limit.expired():
                raise DeadlineExceeded("the work did not finish within the deadline", stage="handler") from None
            raise


async def _abort(context: Context, error: RearviewError, request_id: str) -> None:
    status = errors.to_status(error)
    await context.abort(
        errors.code_of(error),
        status.message,
        trailing_metadata=(*errors.trailers(status), (REQUEST_ID_KEY, request_id)),
    )
