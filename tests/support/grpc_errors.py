"""What a failed call said."""

from collections.abc import Awaitable

import grpc
import grpc.aio
import pytest

from rearview.domain.errors import RearviewError
from rearview.rpc.errors import from_rpc_error


async def failure_of(call: Awaitable[object]) -> tuple[grpc.StatusCode, RearviewError]:
    """Await a call that must fail; return its status code and its error."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value.code(), from_rpc_error(caught.value)


async def code_of(call: Awaitable[object]) -> grpc.StatusCode:
    """Await a call; return its status code, OK if it did not fail."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK
