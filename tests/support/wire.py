"""Calls as they stand on the wire: any bytes, any metadata, no retries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from rearview.rpc.errors import from_rpc_error
from tests.support.supervised_stack import SupervisedStack

M = TypeVar("M", bound=Message)
Metadata = tuple[tuple[str, str | bytes], ...]

TIMEOUT_SECONDS = 30.0


class Wire:
    """A channel to one server and the metadata that calls carry unless they say otherwise."""

    def __init__(self, channel: grpc.Channel, metadata: Metadata) -> None:
        self._channel = channel
        self._metadata = metadata

    def call(
        self,
        method: str,
        request: Message | bytes,
        answer: type[M],
        *,
        metadata: Metadata | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        compression: grpc.Compression | None = None,
    ) -> M:
        """Call `package.Service/Method` with a message, or with bytes that may be none.

        Raises:
            RearviewError: what the server said.
        """
        octets = request if isinstance(request, bytes) else request.SerializeToString()
        invoke = self._channel.unary_unary(
            f"/{method}", request_serializer=lambda same: same, response_deserializer=answer.FromString
        )
        try:
            response: M = invoke(
                octets,
                metadata=tuple(self._metadata if metadata is None else metadata),
                timeout=timeout_seconds,
                compression=compression,
            )
        except grpc.RpcError as error:
            raise from_rpc_error(error) from error
        return response


@contextmanager
def wire_to(address: str, metadata: Metadata = ()) -> Iterator[Wire]:
    """Open a channel of its own, large enough for requests that the server must refuse."""
    options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(address, options=options) as channel:
        yield Wire(channel, metadata)


def bearer(key: str) -> Metadata:
    """Return the metadata that carries a key."""
    return (("authorization", f"Bearer {key}"),)


def service_address(stack: SupervisedStack, service: str) -> str:
    """Return where one of the stack's services listens."""
    ports = json.loads(stack.folder.ports_file.read_text(encoding="utf-8"))
    return f"127.0.0.1:{ports[service]}"
