"""What the blocking and the asynchronous client share: how they are opened, and with which defaults they call."""

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Generic, Self, TypeVar

import grpc

from rearview.client.call import Defaults
from rearview.client.connection import (
    DEFAULT_ENDPOINTS,
    DEFAULT_TIMEOUT_SECONDS,
    ClientCertificate,
    Connection,
    KeyKind,
    checked_defaults,
    connection_from_file,
    connection_to,
    connection_without_key,
)

Channel = TypeVar("Channel")


class Caller(Generic[Channel]):
    """Something that makes calls over a channel."""

    def __init__(self, channel: Channel, connection: Connection, defaults: Defaults) -> None:
        self._channel = channel
        self._connection = connection
        self._defaults = defaults

    @property
    def namespace(self) -> str:
        """The namespace of calls that name none."""
        return self._defaults.namespace

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connection.address!r}, namespace={self._defaults.namespace!r})"


class ConnectedCaller(Caller[Channel], ABC):
    """A caller that opens its own channel."""

    @classmethod
    def connect(
        cls,
        endpoint: str,
        api_key: str,
        *,
        namespace: str = "default",
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        root_certificates: bytes | None = None,
        client_certificate: ClientCertificate | None = None,
    ) -> Self:
        """Return a client for `host:port` (plain) or `https://host:port` (TLS); connecting waits for the first call.

        `client_certificate` is for gateways that ask for one; it is kept as it is while the client is open.

        Raises:
            InvalidFields: the endpoint, the key, the certificate or the time-out cannot be right.
        """
        return cls._open(
            connection_to(endpoint, api_key, root_certificates, client_certificate),
            checked_defaults(namespace, timeout_seconds),
        )

    @classmethod
    def from_endpoints(
        cls,
        path: str | Path = DEFAULT_ENDPOINTS,
        *,
        key: KeyKind = "api",
        namespace: str = "default",
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    ) -> Self:
        """Return a client for the one-machine stack that wrote this file.

        Raises:
            InvalidFields: there is no such file, or it names no gateway or no such key.
        """
        return cls._open(connection_from_file(path, key), checked_defaults(namespace, timeout_seconds))

    @classmethod
    def connect_without_key(
        cls,
        endpoint: str,
        *,
        namespace: str = "default",
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        root_certificates: bytes | None = None,
        client_certificate: ClientCertificate | None = None,
    ) -> Self:
        """Return a client that proves nobody, whose channel serves many keys: see `with_options`.

        Raises:
            InvalidFields: the endpoint or the time-out cannot be right.
        """
        return cls._open(
            connection_without_key(endpoint, root_certificates, client_certificate),
            checked_defaults(namespace, timeout_seconds),
        )

    def with_options(
        self, *, namespace: str | None = None, timeout_seconds: float | None = None, api_key: str | None = None
    ) -> Self:
        """Return a client with other defaults, or of another key, over the same channel; closing either closes both.

        Raises:
            InvalidFields: the key or the time-out cannot be right.
        """
        defaults = checked_defaults(
            self._defaults.namespace if namespace is None else namespace,
            self._defaults.timeout_seconds if timeout_seconds is None else timeout_seconds,
        )
        connection = self._connection if api_key is None else self._connection.of_key(api_key)
        return type(self)(self._channel, connection, defaults)

    def _within_session(self, session: str, namespace: str | None) -> Defaults:
        return replace(self._defaults, namespace=namespace or self._defaults.namespace, session=session)

    @classmethod
    def _open(cls, connection: Connection, defaults: Defaults) -> Self:
        return cls(cls._open_channel(connection.address, connection.credentials), connection, defaults)

    @staticmethod
    @abstractmethod
    def _open_channel(address: str, credentials: grpc.ChannelCredentials | None) -> Channel:
        """Return a channel of the caller's kind."""
