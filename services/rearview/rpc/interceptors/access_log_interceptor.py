"""One log line a call: method, code, duration, who called. Never content."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import grpc
import structlog

from rearview.domain.errors import CredentialMissing, RearviewError
from rearview.rpc.call_context import current_caller
from rearview.rpc.interceptors.call_interceptor import CallInterceptor, IncomingCall
from rearview.rpc.interceptors.outcome import code_name

_OF_THE_SERVICE = {
    code.name
    for code in (
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )
}

_log = structlog.get_logger(__name__)


class AccessLogInterceptor(CallInterceptor):
    """Logs every call of the API when it ends; those of grpc itself (health probes) only at debug level."""

    @asynccontextmanager
    async def around(self, call: IncomingCall) -> AsyncIterator[None]:
        """Serve the call and log how it ended."""
        started = time.perf_counter()
        error: BaseException | None = None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            code = code_name(error, call.method_name, call.context)
            fields = {
                "method": call.method.lstrip("/"),
                "code": code,
                "milliseconds": round((time.perf_counter() - started) * 1000, 1),
                **_who(),
            }
            if isinstance(error, RearviewError):
                fields["reason"] = error.reason
            write = _log.warning if code in _OF_THE_SERVICE else _log.info
            if call.is_of_platform:
                write = _log.debug
            # The answer goes out first.
            asyncio.get_running_loop().call_soon(partial(write, "call", **fields))


def _who() -> dict[str, str]:
    try:
        caller = current_caller()
    except CredentialMissing:
        return {"tenant": "", "principal": "", "role": ""}
    tenant = str(caller.tenant_id) if caller.tenant_id else ""
    return {"tenant": tenant, "principal": caller.principal, "role": caller.role.value}
