"""How a call ended: the error that is told to the caller, and its code."""

import asyncio

import grpc
import grpc.aio

from rearview.domain.errors import DeadlineExceeded, FeatureNotOffered, InternalError, RearviewError
from rearview.rpc.call_context import current_request_id, time_left_seconds
from rearview.rpc.errors import INTERNAL_MESSAGE, code_of, from_rpc_error
from rearview.rpc.interceptors.call_interceptor import Context

# What is taken off each deadline, so that the caller hears of the overrun from the service instead of guessing.
DEADLINE_MARGIN_SECONDS = 0.02

_CODE_NAMES = {code.value[0]: code.name for code in grpc.StatusCode}


def told_to_caller(error: BaseException, method_name: str) -> RearviewError:
    """Return the error as the caller may see it; what is not of the tree becomes InternalError with the request id."""
    if isinstance(error, grpc.RpcError):
        error = from_rpc_error(error, dependency="a service behind")
    if isinstance(error, InternalError):
        known = error.metadata.get("request_id", "")
        return InternalError(INTERNAL_MESSAGE, request_id=known or current_request_id())
    if isinstance(error, RearviewError):
        return error
    if isinstance(error, NotImplementedError):
        # Raised by the generated servicers for methods that a service does not define.
        return FeatureNotOffered(f"{method_name} is not offered by this version", feature=method_name)
    if isinstance(error, TimeoutError) or (isinstance(error, asyncio.CancelledError) and _is_late()):
        return DeadlineExceeded("the work did not finish within the deadline", stage="handler")
    return InternalError(INTERNAL_MESSAGE, request_id=current_request_id())


def is_cancelled_call(error: BaseException) -> bool:
    """True if the call itself was cancelled, so that nobody waits for an answer; not if something awaited was."""
    if isinstance(error, GeneratorExit):
        return True
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def code_name(error: BaseException | None, method_name: str, context: Context) -> str:
    """Return the name of the code with which the call ends: `OK`, `NOT_FOUND`, ..."""
    if error is None:
        return grpc.StatusCode.OK.name
    if isinstance(error, grpc.aio.AbortError):
        return _name_of(context.code())
    if is_cancelled_call(error):
        return (grpc.StatusCode.DEADLINE_EXCEEDED if _is_late() else grpc.StatusCode.CANCELLED).name
    return code_of(told_to_caller(error, method_name)).name


def reason_of(error: BaseException | None, method_name: str) -> str:
    """Return the reason with which the call ends; empty where it ends well, was cancelled, or grpc ended it."""
    if error is None or isinstance(error, grpc.aio.AbortError) or is_cancelled_call(error):
        return ""
    return told_to_caller(error, method_name).reason


def _is_late() -> bool:
    left = time_left_seconds()
    return left is not None and left <= 2 * DEADLINE_MARGIN_SECONDS


def _name_of(code: object) -> str:
    # grpc.aio returns the number although its types promise the enum.
    number = code.value[0] if isinstance(code, grpc.StatusCode) else code
    return _CODE_NAMES.get(number if isinstance(number, int) else -1, grpc.StatusCode.UNKNOWN.name)
