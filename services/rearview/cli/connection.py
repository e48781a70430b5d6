"""The gateway that commands for people speak to: one that is named, or the running stack's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rearview.cli.output import failures
from rearview.embedded.paths import DataFolder

if TYPE_CHECKING:
    from rearview.client import Client

KEY_VARIABLE = "REARVIEW_API_KEY"
CA_VARIABLE = "REARVIEW_GATEWAY_CA_FILE"
CERTIFICATE_VARIABLE = "REARVIEW_GATEWAY_CERT_FILE"
CERTIFICATE_KEY_VARIABLE = "REARVIEW_GATEWAY_KEY_FILE"
CALL_TIMEOUT_SECONDS = 30.0

GatewayOption = Annotated[
    str | None,
    typer.Option(
        "--gateway",
        envvar="REARVIEW_GATEWAY",
        metavar="HOST:PORT",
        help=f"Gateway to speak to, https://HOST:PORT for TLS, with the key in {KEY_VARIABLE} (and, if need be, an "
        f"authority's certificates in the file {CA_VARIABLE}); default: the stack that runs in the data folder.",
        show_default=False,
    ),
]
NamespaceOption = Annotated[str, typer.Option("--namespace", "-n", envvar="REARVIEW_NAMESPACE", help="Namespace.")]


@contextmanager
def connected(
    gateway: str | None, data_dir: Path | None, *, namespace: str = "default", as_json: bool
) -> Iterator[Client]:
    """Yield a client; errors inside the block are shown as of `failures`."""
    with failures(as_json), _client(gateway, data_dir, namespace) as client:
        yield client


def _client(gateway: str | None, data_dir: Path | None, namespace: str) -> Client:
    from rearview.client import Client
    from rearview.client.connection import certificates_in

    if gateway:
        authorities, own = certificates_in(
            _file(CA_VARIABLE), _file(CERTIFICATE_VARIABLE), _file(CERTIFICATE_KEY_VARIABLE)
        )
        return Client.connect(
            gateway,
            os.environ.get(KEY_VARIABLE, ""),
            namespace=namespace,
            timeout_seconds=CALL_TIMEOUT_SECONDS,
            root_certificates=authorities,
            client_certificate=own,
        )
    endpoints = DataFolder.choose(data_dir, os.environ).endpoints_file
    return Client.from_endpoints(endpoints, key="admin", namespace=namespace, timeout_seconds=CALL_TIMEOUT_SECONDS)


def _file(variable: str) -> Path | None:
    path = os.environ.get(variable)
    return Path(path) if path else None
