"""A service behind the gateway: calls go on with the caller's signed identity, deadline, request id and trace."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, TypeVar

import grpc.aio

from rearview.domain.errors import DeadlineExceeded
from rearview.domain.principal import Caller
from rearview.rpc.call_context import time_left_seconds
from rearview.rpc.errors import from_rpc_error
from rearview.rpc.identity import identity_metadata
from rearview.rpc.internal_keys import InternalKeys
from rearview.rpc.known_identities import SignedIdentities
from rearview.rpc.service_channel import path_of
from rearview.telemetry.tracing import child_span

# Taken off each deadline, so that the service behind reports its own overrun instead of being cut off.
DEADLINE_MARGIN_SECONDS = 0.02
UNARY_TIMEOUT_SECONDS = 30.0
STREAM_TIMEOUT_SECONDS = 1_800.0

Request = TypeVar("Request")
Response = TypeVar("Response")


class Backend:
    """One service. Its errors come back as they were raised there; a dead one is Unavailable, by its name."""

    def __init__(self, name: str, keys: InternalKeys) -> None:
        self._name = name
        self._identities = SignedIdentities(keys, name)

    async def call(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        caller: Caller,
    ) -> Response:
        """Return the answer to one request. Raises: whatever the service raised; Unavailable; DeadlineExceeded."""
        with child_span(f"call {self._name}", rpc__system="grpc"):
            try:
                return await method(
                    request, timeout=self._timeout(UNARY_TIMEOUT_SECONDS), metadata=self._metadata(caller, method)
                )
            except grpc.aio.AioRpcError as error:
                raise from_rpc_error(error, dependency=self._name) from error

    async def download(
        self,
        method: grpc.aio.UnaryStreamMultiCallable[Request, Response],
        request: Request,
        caller: Caller,
    ) -> AsyncIterator[Response]:
        """Yield the answers to one request, no faster than they are taken. Raises: as `call`."""
        call = method(request, timeout=self._timeout(STREAM_TIMEOUT_SECONDS), metadata=self._metadata(caller, method))
        try:
            async for response in call:
                yield response
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error, dependency=self._name) from error
        finally:
            call.cancel()  # whoever stopped listening; a call that has ended is not affected

    async def upload(
        self,
        method: grpc.aio.StreamUnaryMultiCallable[Request, Response],
        requests: AsyncIterable[Request],
        caller: Caller,
    ) -> Response:
        """Return the answer to a stream of requests. Raises: as `call`, and what reading the stream raised."""
        sent = _Sent(requests)
        call = method(
            sent.items(), timeout=self._timeout(STREAM_TIMEOUT_SECONDS), metadata=self._metadata(caller, method)
        )
        try:
            return await call
        except grpc.aio.AioRpcError as error:
            raise sent.error or from_rpc_error(error, dependency=self._name) from error
        finally:
            call.cancel()

    def _timeout(self, longest_seconds: float) -> float:
        left = time_left_seconds()
        if left is None:
            return longest_seconds
        if left <= DEADLINE_MARGIN_SECONDS:
            raise DeadlineExceeded(f"no time is left for {self._name}", stage=self._name)
        return min(left - DEADLINE_MARGIN_SECONDS, longest_seconds)

    def _metadata(self, caller: Caller, method: object) -> Any:
        return identity_metadata(self._identities.of(caller, path_of(method)))


class _Sent:
    """A stream that is passed on. What is raised while it is read ends the call, which knows no reason for it."""

    def __init__(self, requests: AsyncIterable[Any]) -> None:
        self._requests = requests
        self.error: Exception | None = None

    async def items(self) -> AsyncIterator[Any]:
        try:
            async for request in self._requests:
                yield request
        except Exception as error:
            self.error = error
            raise
