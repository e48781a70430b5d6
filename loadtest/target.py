"""The gateway that is put under load."""

import os
from argparse import Namespace
from pathlib import Path

from rearview.client import Client

TIMEOUT_SECONDS = 180.0
"""As patient as an agent whose only writer is being replaced on a busy machine; waiting shows in the times."""
KEY_VARIABLE = "REARVIEW_API_KEY"


def client_of(options: Namespace) -> Client:
    """Return a client of the gateway at `--host` with the key in REARVIEW_API_KEY; without a host, of the stack whose
    endpoints file is given, with its admin's key, which reaches every namespace.

    Raises:
        InvalidFields: neither leads to a gateway and a key.
        OSError: the certificates cannot be read.
    """
    if not options.host:
        return Client.from_endpoints(
            options.endpoints, key="admin", namespace=options.namespace, timeout_seconds=TIMEOUT_SECONDS
        )
    certificates = Path(options.root_certificates).read_bytes() if options.root_certificates else None
    return Client.connect(
        options.host,
        os.environ.get(KEY_VARIABLE, ""),
        namespace=options.namespace,
        timeout_seconds=TIMEOUT_SECONDS,
        root_certificates=certificates,
    )
