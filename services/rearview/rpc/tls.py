"""TLS of a server and of a channel, over certificate files that may be replaced while the process runs."""

from typing import Any

import grpc

from rearview.rpc.certificates import CertificateFiles, Certificates


def server_credentials(files: CertificateFiles, *, mutual: bool) -> grpc.ServerCredentials:
    """Return credentials that read the files again when they have changed: each new connection gets the new ones.

    They are good for one port of one server; grpc asks for the first certificates once.

    With `mutual` only callers are served whose certificate one of the files' authorities signed.

    Raises:
        InvalidFields: the files are no good.
    """

    # None stands for "as before", which the types of grpc do not say.
    def fetch() -> Any:
        changed = files.changed()
        return None if changed is None else _configuration(changed)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(files.read()), fetch, require_client_authentication=mutual
    )


def channel_credentials(certificates: Certificates) -> grpc.ChannelCredentials:
    """Return credentials of a channel: with a certificate of one's own if there is one; the system's authorities
    unless others are given."""
    return grpc.ssl_channel_credentials(certificates.authorities, certificates.key, certificates.chain)


def _configuration(certificates: Certificates) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(certificates.key, certificates.chain)], root_certificates=certificates.authorities
    )
