"""Where the gateway is and what proves who calls."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import grpc

from rearview.client.call import Defaults
from rearview.domain.errors import invalid_field

DEFAULT_TIMEOUT_SECONDS = 10.0
DEFAULT_ENDPOINTS = ".rearview/endpoints.json"

KeyKind = Literal["api", "admin", "operator"]
"""The agent's key, which reads and writes; the tenant admin's; the operator's."""


ClientCertificate = tuple[bytes, bytes]
"""Whoever calls a gateway that asks for it: the certificate with the intermediate ones, and its key; PEM."""


@dataclass(frozen=True, slots=True)
class Connection:
    """An address, whether it is spoken to over TLS, and the key."""

    address: str
    api_key: str = field(repr=False)
    credentials: grpc.ChannelCredentials | None = None

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call carries; nothing without a key."""
        return (("authorization", f"Bearer {self.api_key}"),) if self.api_key else ()

    def of_key(self, api_key: str) -> "Connection":
        """Return the same connection for another key. Raises: InvalidFields: the key cannot be one."""
        return replace(self, api_key=_checked_key(api_key))


def connection_to(
    endpoint: str,
    api_key: str,
    root_certificates: bytes | None = None,
    client_certificate: ClientCertificate | None = None,
) -> Connection:
    """Return the connection to `host:port`, `http://host:port` (plain) or `https://host:port` (TLS).

    Raises:
        InvalidFields: the endpoint is none of these, or the key or the certificate cannot be one.
    """
    return connection_without_key(endpoint, root_certificates, client_certificate).of_key(api_key)


def connection_without_key(
    endpoint: str, root_certificates: bytes | None = None, client_certificate: ClientCertificate | None = None
) -> Connection:
    """Return the connection that brings no key. Raises as `connection_to`."""
    scheme, found, rest = endpoint.partition("://")
    address = (rest if found else endpoint).rstrip("/")
    secure = scheme == "https" if found else bool(root_certificates or client_certificate)
    if found and scheme not in ("http", "https"):
        raise invalid_field("endpoint", f"the scheme {scheme!r} is none of http, https")
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isascii() and port.isdigit()) or "/" in address or not address.isprintable():
        raise invalid_field("endpoint", "must be host:port, with http:// or https:// before it or not")
    if not secure:
        if client_certificate:
            raise invalid_field("client_certificate", "is of no use without TLS; connect to https://host:port")
        return Connection(address, "")
    chain, private_key = client_certificate or (None, None)
    if chain is not None and private_key is not None:
        # What reads certificates is a package that a client without one can do without.
        from rearview.rpc.certificates import check_pair

        check_pair(chain, private_key, "client_certificate[0]", "client_certificate[1]")
    return Connection(address, "", grpc.ssl_channel_credentials(root_certificates, private_key, chain))


def certificates_in(
    ca_file: Path | None, cert_file: Path | None, key_file: Path | None
) -> tuple[bytes | None, ClientCertificate | None]:
    """Return what is in the files of authorities and of one's own certificate and key, where they are given.

    Raises:
        OSError: one cannot be read.
        InvalidFields: there is a certificate without a key, or the reverse.
    """
    if (cert_file is None) != (key_file is None):
        raise invalid_field("client_certificate", "takes both, a certificate and its key")
    own = None if cert_file is None or key_file is None else (cert_file.read_bytes(), key_file.read_bytes())
    return ca_file.read_bytes() if ca_file else None, own


def connection_from_file(path: str | Path, key: KeyKind) -> Connection:
    """Return the connection that the one-machine stack wrote down.

    Raises:
        InvalidFields: there is no such file, or it names no gateway or no such key.
    """
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        endpoint, api_key = content["gateway"], content[f"{key}_key"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise invalid_field(
            "path", f"{path} is not the endpoints file of a running stack; run `rearview up`"
        ) from error
    if not isinstance(endpoint, str) or not isinstance(api_key, str):
        raise invalid_field("path", f"{path} names no gateway or no {key} key; is the stack running?")
    return connection_to(endpoint, api_key)


def _checked_key(api_key: str) -> str:
    if not api_key or not api_key.isascii() or not api_key.isprintable():
        raise invalid_field("api_key", "must be the secret of a key, in printable ASCII")
    return api_key


def checked_defaults(namespace: str, timeout_seconds: float) -> Defaults:
    """Raises: InvalidFields for a time-out that is not above zero: every call has a deadline."""
    if not 0 < timeout_seconds < float("inf"):
        raise invalid_field("timeout_seconds", "must be above 0 and finite")
    return Defaults(namespace, timeout_seconds)
