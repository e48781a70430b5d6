"""Certificate files that are replaced while a process runs: by cert-manager, by a mounted Secret, by hand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TypeVar

import structlog
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from cryptography.x509 import load_pem_x509_certificates

from rearview.domain.errors import InvalidFields, invalid_field

_log = structlog.get_logger(__name__)

T = TypeVar("T")

_Seen = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM. `chain` begins with the process's own certificate; `authorities` must have signed those of its peers."""

    chain: bytes
    key: bytes = field(repr=False)
    authorities: bytes | None


class CertificateFiles:
    """The files of one side of TLS. May be asked from several threads, as grpc does at each handshake."""

    def __init__(self, cert_file: Path, key_file: Path, ca_file: Path | None) -> None:
        self._cert_file, self._key_file, self._ca_file = cert_file, key_file, ca_file
        self._seen: _Seen = ()
        self._lock = Lock()

    def read(self) -> Certificates:
        """Return what is in the files now.

        Raises:
            InvalidFields: one cannot be read, is not what it should be, or the key is of another certificate.
        """
        with self._lock:
            self._seen = self._look()
            return self._checked()

    def changed(self) -> Certificates | None:
        """Return what is in the files if they are others than before; None when they are the same, or no good.

        Files that are no good change nothing: what was read before goes on being used, and the log says why.
        """
        with self._lock:
            try:
                seen = self._look()
                if seen == self._seen:
                    return None
                self._seen = seen
                certificates = self._checked()
            except InvalidFields as error:
                _log.error("certificates were not read again", problem=error.message)
                return None
        _log.info("certificates were read again")
        return certificates

    def _look(self) -> _Seen:
        files = (self._cert_file, self._key_file, self._ca_file)
        found = [_read(file.stat, file) for file in files if file is not None]
        return tuple((stat.st_mtime_ns, stat.st_size, stat.st_ino) for stat in found)

    def _checked(self) -> Certificates:
        chain, key = (
            _read(self._cert_file.read_bytes, self._cert_file),
            _read(self._key_file.read_bytes, self._key_file),
        )
        check_pair(chain, key, str(self._cert_file), str(self._key_file))
        authorities = None
        if self._ca_file is not None:
            authorities = _read(self._ca_file.read_bytes, self._ca_file)
            _certified_key(str(self._ca_file), authorities)
        return Certificates(chain, key, authorities)


def check_pair(chain: bytes, key: bytes, chain_name: str, key_name: str) -> None:
    """Check a certificate and its key, PEM, under the names by which errors call them.

    Raises:
        InvalidFields: one is not what it should be, or the key is of another certificate.
    """
    if _public_key_of(key_name, key) != _certified_key(chain_name, chain):
        raise invalid_field(key_name, f"is not the key of the certificate in {chain_name}")


def _read(how: Callable[[], T], file: Path) -> T:
    try:
        return how()
    except OSError as error:
        raise invalid_field(str(file), f"cannot be read: {error.strerror}") from error


def _certified_key(name: str, pem: bytes) -> bytes:
    """Return the public key (DER) that the first certificate is about."""
    try:
        return _encoded(load_pem_x509_certificates(pem)[0].public_key())
    except (ValueError, IndexError, UnsupportedAlgorithm) as error:
        raise invalid_field(name, "holds no certificate in PEM") from error


def _public_key_of(name: str, pem: bytes) -> bytes:
    """Return the public key (DER) of a private one."""
    try:
        return _encoded(load_pem_private_key(pem, password=None).public_key())
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise invalid_field(name, "holds no unencrypted private key in PEM") from error


def _encoded(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
