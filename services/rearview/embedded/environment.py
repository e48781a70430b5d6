"""The environment variables through which the services are configured, and their values in a one-machine stack.

Each service's `config.py` reads the same names; a cluster sets them from ConfigMaps and Secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rearview.embedded.paths import MODELS_VARIABLE
from rearview.embedded.ports_allocation import LOOPBACK
from rearview.embedded.secrets import StackSecrets

DATABASE_URL = "REARVIEW_DATABASE_URL"
OPERATOR_DATABASE_URL = "REARVIEW_OPERATOR_DATABASE_URL"
DATABASE_OWNER_URL = "REARVIEW_DATABASE_OWNER_URL"
REDIS_URL = "REARVIEW_REDIS_URL"
S3_ENDPOINT = "REARVIEW_S3_ENDPOINT"
S3_ACCESS_KEY = "REARVIEW_S3_ACCESS_KEY"
S3_SECRET_KEY = "REARVIEW_S3_SECRET_KEY"  # noqa: S105 -- the variable's name
S3_BUCKET = "REARVIEW_S3_BUCKET"
S3_SECURE = "REARVIEW_S3_SECURE"
INTERNAL_KEY = "REARVIEW_INTERNAL_KEY"
OPERATOR_KEY = "REARVIEW_OPERATOR_KEY"
AUDIT_KEY = "REARVIEW_AUDIT_KEY"
LISTEN = "REARVIEW_LISTEN"
METRICS_PORT = "REARVIEW_METRICS_PORT"
WRITER_ROLE = "REARVIEW_WRITER_ROLE"
WRITER_ADDRESS = "REARVIEW_WRITER_ADDRESS"
RETRIEVER_ADDRESS = "REARVIEW_RETRIEVER_ADDRESS"
LIFECYCLE_ADDRESS = "REARVIEW_LIFECYCLE_ADDRESS"
LOG_LEVEL = "REARVIEW_LOG_LEVEL"
LOG_FORMAT = "REARVIEW_LOG_FORMAT"

DATABASE = "rearview"
SUPERUSER = "postgres"
OWNER_ROLE = "rearview_owner"
SERVICE_ROLE = "rearview_service"
OPERATOR_ROLE = "rearview_operator"
BUCKET = "rearview"

_WRITER_ROLES = {"writer": "serve", "worker": "work"}


@dataclass(frozen=True, slots=True, repr=False)
class StackAddresses:
    """Where the stateful servers of a stack listen, with the credentials to reach them."""

    postgres_port: int
    valkey_port: int
    s3_port: int
    secrets: StackSecrets

    def __repr__(self) -> str:
        return f"StackAddresses(postgres={self.postgres_port}, valkey={self.valkey_port}, s3={self.s3_port})"

    @property
    def superuser_url(self) -> str:
        """The superuser on the maintenance database: set-up and diagnosis only."""
        return self._database_url(SUPERUSER, self.secrets.postgres_superuser_password, SUPERUSER)

    @property
    def owner_url(self) -> str:
        return self._database_url(OWNER_ROLE, self.secrets.postgres_owner_password)

    @property
    def service_url(self) -> str:
        return self._database_url(SERVICE_ROLE, self.secrets.postgres_service_password)

    @property
    def operator_url(self) -> str:
        return self._database_url(OPERATOR_ROLE, self.secrets.postgres_operator_password)

    @property
    def redis_url(self) -> str:
        return f"redis://:{self.secrets.valkey_password}@{LOOPBACK}:{self.valkey_port}/0"

    @property
    def s3_endpoint(self) -> str:
        """`host:port`, as the S3 client wants it."""
        return f"{LOOPBACK}:{self.s3_port}"

    def _database_url(self, role: str, password: str, database: str = DATABASE) -> str:
        return f"postgresql://{role}:{password}@{LOOPBACK}:{self.postgres_port}/{database}"


@dataclass(frozen=True, slots=True)
class ServicePorts:
    """The gRPC and the metrics port of one service."""

    grpc: int
    metrics: int

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.grpc}"


def service_environment(
    service: str, ports: Mapping[str, ServicePorts], addresses: StackAddresses, models: Path, log_level: str
) -> dict[str, str]:
    """Return the variables of one service; only the gateway learns the operator's credentials, only
    the lifecycle service the key of the audit seals."""
    secrets = addresses.secrets
    values = {
        DATABASE_URL: addresses.service_url,
        REDIS_URL: addresses.redis_url,
        S3_ENDPOINT: addresses.s3_endpoint,
        S3_ACCESS_KEY: secrets.s3_access_key,
        S3_SECRET_KEY: secrets.s3_secret_key,
        S3_BUCKET: BUCKET,
        S3_SECURE: "false",
        INTERNAL_KEY: secrets.internal_key,
        LISTEN: ports[service].address,
        METRICS_PORT: str(ports[service].metrics),
        WRITER_ADDRESS: ports["writer"].address,
        RETRIEVER_ADDRESS: ports["retriever"].address,
        LIFECYCLE_ADDRESS: ports["lifecycle"].address,
        MODELS_VARIABLE: str(models),
        LOG_LEVEL: log_level,
        LOG_FORMAT: "json",
    }
    if service == "gateway":
        values[OPERATOR_DATABASE_URL] = addresses.operator_url
        values[OPERATOR_KEY] = secrets.operator_key
    if service == "lifecycle":
        values[AUDIT_KEY] = secrets.audit_key
    if service in _WRITER_ROLES:
        values[WRITER_ROLE] = _WRITER_ROLES[service]
    return values
