"""What the configurations of all services have in common. All bad values are reported at once, none is printed."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError

from rearview.domain.redaction import VaultKey, parse_vault_keys
from rearview.rpc.call_gate import GateLimits
from rearview.rpc.internal_keys import MIN_KEY_BYTES, InternalKeys, parse_internal_keys
from rearview.rpc.settings import ENVIRONMENT_PREFIX, Settings
from rearview.rpc.tls_config import ServedTlsConfig


def _internal_key(keys: SecretStr) -> SecretStr:
    parse_internal_keys(keys.get_secret_value())
    return keys


def _long_enough(key: SecretStr) -> SecretStr:
    if len(key.get_secret_value().encode()) < MIN_KEY_BYTES:
        raise ValueError(f"must have at least {MIN_KEY_BYTES} bytes")
    return key


def _vault_key(keys: SecretStr) -> SecretStr:
    parse_vault_keys(keys.get_secret_value())
    return keys


SecretKey = Annotated[SecretStr, AfterValidator(_long_enough)]
"""What signs: MIN_KEY_BYTES at least."""


class ServiceConfig(ServedTlsConfig):
    """What every service is told; each has a class of its own below this one.

    Attributes:
        metrics_port: where Prometheus metrics are served, on the interface of `listen`; None serves none.
        database_url: PostgreSQL as the role rearview_service.
        max_connections: of a pool of connections to PostgreSQL.
        prepared_statements: whether statements are prepared under names; not behind a pooler that gives each
            transaction another connection and does not know of them.
        internal_key: signs and checks the identities that go from service to service, and signs page tokens; 32 bytes
            or more. Two, separated by a comma, while it is replaced: the first signs, both are accepted.
        max_running_calls: so many calls are worked on at a time, and a quarter as many streams beside them.
        max_waiting_calls: so many more wait for their turn; further ones are refused.
        call_wait_seconds: how long a call waits for its turn; then it is refused.
        max_concurrent_calls: a last bound on all open calls, kept by grpc itself, which does not say when to come
            back.
        drain_seconds: how long calls under way may take to finish when the service stops.
    """

    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    database_url: SecretStr
    max_connections: int = Field(default=10, ge=1, le=1_000)
    prepared_statements: bool = True
    internal_key: Annotated[SecretStr, AfterValidator(_internal_key)]
    max_running_calls: int = Field(default=32, ge=1, le=10_000)
    max_waiting_calls: int = Field(default=128, ge=0, le=100_000)
    call_wait_seconds: float = Field(default=1.0, gt=0, le=60)
    max_concurrent_calls: int = Field(default=1_000, ge=1, le=100_000)
    drain_seconds: float = Field(default=10.0, ge=0, le=600)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"

    @property
    def gate_limits(self) -> GateLimits:
        """How many calls are served at a time."""
        return GateLimits(self.max_running_calls, self.max_waiting_calls, self.call_wait_seconds)

    @property
    def internal_keys(self) -> InternalKeys:
        """The keys in plain."""
        return parse_internal_keys(self.internal_key.get_secret_value())


EMBEDDER_PATTERN = r"^(onnx|sentence-transformers|flag|use|http):[^\s]+$"
"""Kind and model."""


class EmbedderConfig(Settings):
    """What a service is told that embeds texts.

    Attributes:
        embedder: kind and model, as `onnx:multilingual-e5-small`.
        next_embedder: another one, to or from which memories are re-embedded; unset but for that time.
        model_dir: where the kind `onnx` builds and keeps its model.
        embedder_url: the endpoint, for the kind `http`.
        embedder_api_key: its bearer token.
    """

    embedder: str = Field(default="onnx:multilingual-e5-small", pattern=EMBEDDER_PATTERN)
    next_embedder: str | None = Field(default=None, pattern=EMBEDDER_PATTERN)
    model_dir: Path = Path("~/.cache/rearview/models")
    embedder_url: str | None = None
    embedder_api_key: SecretStr | None = None

    @property
    def embedder_bearer(self) -> str | None:
        """The bearer token in plain."""
        return self.embedder_api_key.get_secret_value() if self.embedder_api_key else None


class VaultConfig(Settings):
    """What a service is told that seals, opens, or lets tenants turn the vault on.

    Attributes:
        vault_key: keys of the sealed vault, `id:base64` of 32 bytes each, separated by commas: the first seals, all
            open, so that a key is rotated by putting a new one in front. Without any, no tenant can have a vault.
    """

    vault_key: Annotated[SecretStr, AfterValidator(_vault_key)] | None = None

    @property
    def vault_keys(self) -> tuple[VaultKey, ...]:
        """The keys, none when there is no vault."""
        return parse_vault_keys(self.vault_key.get_secret_value()) if self.vault_key else ()


class ObjectStorageConfig(Settings):
    """What a service is told that reads or writes cold segments. It is not asked for before something is cold.

    Attributes:
        s3_endpoint: `host:port` of MinIO or another S3 server.
        s3_access_key, s3_secret_key: the account.
        s3_bucket: exists, and belongs to this platform alone.
        s3_secure: whether it is spoken to over TLS.
        s3_region: its region.
        s3_seconds: how long one request may be without news.
        cold_cache_dir: where index parts of segments are kept; the system's temporary folder if unset.
        cold_cache_bytes: how much of that folder is used.
        cold_block_bytes: how much memory their payload may take.
        cold_idle_seconds: what nobody used for so long is given up.
        cold_check_seconds: how often it is asked whether segments that are kept still exist.
    """

    s3_endpoint: str = Field(default="127.0.0.1:9000", min_length=1)
    s3_access_key: SecretStr = SecretStr("")
    s3_secret_key: SecretStr = SecretStr("")
    s3_bucket: str = Field(default="rearview", min_length=1)
    s3_secure: bool = True
    s3_region: str = "us-east-1"
    s3_seconds: float = Field(default=30.0, gt=0, le=600)
    cold_cache_dir: Path | None = None
    cold_cache_bytes: int = Field(default=2 * 1024**3, ge=0)
    cold_block_bytes: int = Field(default=64 * 1024**2, ge=0)
    cold_idle_seconds: float = Field(default=300.0, gt=0, le=86_400)
    cold_check_seconds: float = Field(default=5.0, gt=0, le=3_600)


def problems_of(error: ValidationError) -> list[str]:
    """Return one line for each bad value: the name of its variable and what is wrong with it, not the value."""
    return [
        f"{ENVIRONMENT_PREFIX}{'_'.join(str(part) for part in problem['loc']).upper()}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    ]
