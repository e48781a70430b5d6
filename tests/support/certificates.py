"""Certificate authorities and certificates, made as a test needs them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority. `pem` is what those hold who trust it."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        certificate = _about(self._name, self._name, self._key).add_extension(constraints, critical=True)
        self.pem = certificate.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)

    def issue(self, name: str) -> Pair:
        """Return a certificate for the loopback."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")])
        certificate = _about(_named(name), self._name, key).add_extension(names, critical=False)
        signed = certificate.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)
        return Pair(signed, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


@dataclass(frozen=True, slots=True)
class Files:
    """Where a process finds its certificate, its key and the authorities that it trusts."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "tls.crt"

    @property
    def key(self) -> Path:
        return self.folder / "tls.key"

    @property
    def authorities(self) -> Path:
        return self.folder / "ca.crt"

    def put(self, pair: Pair, authorities: bytes) -> "Files":
        """Replace all three, each in one step."""
        self.folder.mkdir(exist_ok=True)
        for path, content in (
            (self.authorities, authorities),
            (self.key, pair.key),
            (self.certificate, pair.certificate),
        ):
            new = path.with_suffix(".new")
            new.write_bytes(content)
            new.replace(path)
        return self


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _about(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
    )
