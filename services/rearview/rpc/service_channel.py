"""A channel to a service behind the gateway, whose methods know their path and whose certificates may be replaced.

grpc's Python channels keep the certificates that they were opened with (its servers do not have to, see `rpc.tls`).
So a channel is opened anew when the files have changed; calls under way end on the one that they began on.
"""

import asyncio
import time
from typing import Any

import grpc
import grpc.aio

from rearview.rpc.certificates import CertificateFiles
from rearview.rpc.channel import open_channel
from rearview.rpc.tls import channel_credentials

LOOK_AGAIN_SECONDS = 1.0
GRACE_SECONDS = 600.0
"""Longer than any call to a service behind may take."""


class ServiceChannel(grpc.aio.Channel):
    """A `grpc.aio.Channel` over mutual TLS, or plain where no certificates are given."""

    def __init__(self, address: str, certificates: CertificateFiles | None = None) -> None:
        """Raises: InvalidFields: the certificates are no good."""
        self._address = address
        self._certificates = certificates
        self._looked = time.monotonic()
        credentials = None if certificates is None else channel_credentials(certificates.read())
        self._current = open_channel(address, credentials=credentials)
        self._closing: set[asyncio.Task[None]] = set()

    def current(self) -> grpc.aio.Channel:
        """Return the channel on which a call may begin now."""
        if self._certificates is not None and time.monotonic() - self._looked >= LOOK_AGAIN_SECONDS:
            self._looked = time.monotonic()
            changed = self._certificates.changed()
            if changed is not None:
                left, self._current = (
                    self._current,
                    open_channel(self._address, credentials=channel_credentials(changed)),
                )
                closing = asyncio.create_task(left.close(GRACE_SECONDS))
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)
        return self._current

    async def __aenter__(self) -> "ServiceChannel":
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Close what is open, also channels whose last calls are still awaited."""
        for closing in tuple(self._closing):
            closing.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        await self._current.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Return the state of the current channel."""
        return self.current().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until the current channel's state is another."""
        await self.current().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until the current channel is connected."""
        await self.current().channel_ready()

    def unary_unary(self, method: str, *args: Any, **options: Any) -> Any:
        """Return a `ServiceMethod`."""
        return ServiceMethod(self, "unary_unary", method, args, options)

    def unary_stream(self, method: str, *args: Any, **options: Any) -> Any:
        """Return a `ServiceMethod`."""
        return ServiceMethod(self, "unary_stream", method, args, options)

    def stream_unary(self, method: str, *args: Any, **options: Any) -> Any:
        """Return a `ServiceMethod`."""
        return ServiceMethod(self, "stream_unary", method, args, options)

    def stream_stream(self, method: str, *args: Any, **options: Any) -> Any:
        """Return a `ServiceMethod`."""
        return ServiceMethod(self, "stream_stream", method, args, options)


class ServiceMethod:
    """A method of a service: called like grpc's own multi-callables. `path` is `/package.Service/Method`."""

    def __init__(
        self, channel: ServiceChannel, kind: str, path: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> None:
        self.path = path
        self._channel = channel
        self._kind = kind
        self._args, self._options = args, options
        self._made_on: grpc.aio.Channel | None = None
        self._made: Any = None

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Begin a call on the current channel."""
        current = self._channel.current()
        if current is not self._made_on:
            self._made = getattr(current, self._kind)(self.path, *self._args, **self._options)
            self._made_on = current
        return self._made(*args, **options)


def path_of(method: object) -> str:
    """Return the path of a method of a `ServiceChannel`. Raises: TypeError: it is of another channel."""
    if not isinstance(method, ServiceMethod):
        raise TypeError("only methods of a ServiceChannel know their path")
    return method.path
