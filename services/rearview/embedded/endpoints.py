"""`endpoints.json` (0600): the addresses and API keys of a running stack, for people, clients and examples."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from rearview.embedded.private_files import read_json, write_private_json


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Addresses as `host:port` or URLs (with credentials); what a stack does not run is None."""

    postgres_superuser_url: str
    postgres_owner_url: str
    postgres_service_url: str
    postgres_operator_url: str
    redis_url: str
    s3_endpoint: str
    s3_access_key: str
    s3_secret_key: str
    s3_bucket: str
    gateway: str | None = None
    operator_key: str | None = None
    tenant: str | None = None
    admin_key: str | None = None
    api_key: str | None = None
    metrics: dict[str, str] | None = None

    def write(self, path: Path) -> None:
        write_private_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> Endpoints | None:
        """Return what the file says, None when there is none or another version wrote it."""
        content = read_json(path)
        try:
            return cls(**content) if content is not None else None  # type: ignore[arg-type]
        except TypeError:
            return None
