"""What a service is told of TLS, and of doing without it."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field, ValidationInfo, field_validator

from rearview.rpc.settings import Listen, Settings, host_of, is_loopback


class ServedTlsConfig(Settings):
    """How a service's API is served. Certificate files are read again when they change; a restart is not needed.

    Attributes:
        listen: where the service's API is served.
        tls_cert_file: its certificate with the intermediate ones, PEM; without it the API is served in plain.
        tls_key_file: the key of that certificate, PEM, unencrypted.
        tls_client_ca_file: authorities, PEM; only callers are served whose certificate one of them signed. A service
            behind the gateway needs it wherever it has a certificate of its own.
        allow_plaintext: serve in plain on an address that other machines reach. Without TLS only the loopback is
            served otherwise, since whoever sits between could read keys and memories.
        health_port: where health is served too, alone and in plain, for probes that know no TLS; on the interface of
            `listen`. None serves none.
    """

    mutual: ClassVar[bool] = True
    """Whether TLS needs a certificate of the caller."""

    listen: Listen
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = Field(default=None, validate_default=True)
    tls_client_ca_file: Path | None = Field(default=None, validate_default=True)
    allow_plaintext: bool = Field(default=False, validate_default=True)
    health_port: int | None = Field(default=None, ge=0, le=65_535)

    @field_validator("tls_key_file")
    @classmethod
    def _key_goes_with_a_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if "tls_cert_file" in info.data and (key is None) != (info.data["tls_cert_file"] is None):
            raise ValueError("is needed with REARVIEW_TLS_CERT_FILE, and only with it")
        return key

    @field_validator("tls_client_ca_file")
    @classmethod
    def _callers_prove_themselves(cls, authorities: Path | None, info: ValidationInfo) -> Path | None:
        certificate = info.data.get("tls_cert_file")
        if authorities is not None and certificate is None and "tls_cert_file" in info.data:
            raise ValueError("is of no use without REARVIEW_TLS_CERT_FILE")
        if cls.mutual and certificate is not None and authorities is None:
            raise ValueError("is needed with REARVIEW_TLS_CERT_FILE: the gateway proves itself by a certificate")
        return authorities

    @field_validator("allow_plaintext")
    @classmethod
    def _plain_stays_on_the_loopback(cls, allowed: bool, info: ValidationInfo) -> bool:
        listen, certificate = info.data.get("listen"), info.data.get("tls_cert_file", "")
        if listen is not None and certificate is None and not allowed and not is_loopback(host_of(listen)):
            raise ValueError(
                "must be true to serve without TLS beyond the loopback; or set REARVIEW_TLS_CERT_FILE, or listen on "
                "127.0.0.1"
            )
        return allowed
