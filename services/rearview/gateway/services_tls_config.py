"""How the gateway proves itself to the services behind it, and whom it takes them for."""

from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator

from rearview.rpc.settings import Settings


class ServicesTlsConfig(Settings):
    """Mutual TLS to writer, retriever and lifecycle: all three files, or none for plain channels. Files are read again
    when they change.

    Attributes:
        services_cert_file: the certificate that the gateway shows to the services behind it, PEM.
        services_key_file: the key of that certificate, PEM, unencrypted.
        services_ca_file: authorities, PEM, one of which must have signed the certificates of the services behind.
    """

    services_cert_file: Path | None = None
    services_key_file: Path | None = Field(default=None, validate_default=True)
    services_ca_file: Path | None = Field(default=None, validate_default=True)

    @field_validator("services_key_file", "services_ca_file")
    @classmethod
    def _services_all_or_none(cls, file: Path | None, info: ValidationInfo) -> Path | None:
        if "services_cert_file" in info.data and (file is None) != (info.data["services_cert_file"] is None):
            raise ValueError("is needed with REARVIEW_SERVICES_CERT_FILE, and only with it")
        return file
