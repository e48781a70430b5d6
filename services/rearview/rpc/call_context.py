"""What is known about the call that is being served: its id, its deadline, who calls. Bound to the call's task."""

import re
import time
from contextvars import ContextVar
from dataclasses import dataclass, replace

from rearview.domain.errors import CredentialMissing
from rearview.domain.ids import new_id
from rearview.domain.principal import Caller
from rearview.telemetry.trace_context import TRACEPARENT, current_traceparent

REQUEST_ID_KEY = "x-request-id"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _ServedCall:
    request_id: str
    deadline_monotonic: float | None
    caller: Caller | None = None


_NO_CALL = _ServedCall(request_id="", deadline_monotonic=None)
_served: ContextVar[_ServedCall] = ContextVar("rearview_served_call", default=_NO_CALL)


def begin_call(request_id: str, time_left_seconds: float | None) -> str:
    """Bind a new call to this task and return its request id: the caller's if it is a sane token, else a new one.

    `time_left_seconds` is None for calls without a deadline. Nothing needs to be undone: every call has its own task.
    """
    sane = request_id if _REQUEST_ID.fullmatch(request_id) else str(new_id())
    deadline = None if time_left_seconds is None else time.monotonic() + time_left_seconds
    _served.set(_ServedCall(request_id=sane, deadline_monotonic=deadline))
    return sane


def set_caller(caller: Caller) -> None:
    """Say who calls, once it has been proven."""
    _served.set(replace(_served.get(), caller=caller))


def current_caller() -> Caller:
    """Return who calls.

    Raises:
        CredentialMissing: nobody proved who they are.
    """
    caller = _served.get().caller
    if caller is None:
        raise CredentialMissing("no credential came with the call")
    return caller


def current_request_id() -> str:
    """Return the id of the call; empty outside of calls."""
    return _served.get().request_id


def time_left_seconds() -> float | None:
    """Return how long the caller still waits, at least 0; None when the call has no deadline."""
    deadline = _served.get().deadline_monotonic
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)


def outgoing_metadata() -> tuple[tuple[str, str], ...]:
    """Return the metadata that ties a call made from here to the call being served: request id and trace."""
    request_id, traceparent = current_request_id(), current_traceparent()
    return (((REQUEST_ID_KEY, request_id),) if request_id else ()) + (
        ((TRACEPARENT, traceparent),) if traceparent else ()
    )
