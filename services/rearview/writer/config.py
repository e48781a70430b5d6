"""The writer's configuration, from the environment. All bad values are reported at once, none is printed."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from rearview.rpc.identity import MIN_KEY_BYTES

_ADDRESS = re.compile(r"(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9_.*-]+):[0-9]{1,5}", re.ASCII)


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("must have the form host:port")
    return text


def _internal_key(key: SecretStr) -> SecretStr:
    if len(key.get_secret_value().encode()) < MIN_KEY_BYTES:
        raise ValueError(f"must have at least {MIN_KEY_BYTES} bytes")
    return key


class WriterConfig(BaseSettings):
    """Read once; the variables carry the prefix `REARVIEW_`.

    Attributes:
        writer_role: whether this process answers calls, works on jobs, or both.
        listen: where the internal API is served; health alone, where no calls are answered.
        metrics_port: where Prometheus metrics are served, on the interface of `listen`; None serves none.
        database_url: PostgreSQL as the role rearview_service.
        max_connections: of each of the two pools, that of calls and that of jobs.
        redis_url: Redis or Valkey, for working memory.
        redis_seconds: how long an acknowledgement waits for working memory; then it goes on without.
        internal_key: checks the identities that the gateway signs.
        embedder: kind and model, as `onnx:multilingual-e5-small`.
        worker_concurrency: how many jobs run at a time.
        index_batch_events: how many events are analysed, embedded and written together.
        merge_batch_units: how many search units move into the vector index together.
        segment_gap_minutes: a pause longer than this ends an episode.
        session_silent_minutes: a session without a turn for so long is indexed to its end.
        start_seconds: how long the start waits for PostgreSQL and its schema.
    """

    model_config = SettingsConfigDict(env_prefix="REARVIEW_", frozen=True, hide_input_in_errors=True)

    writer_role: Literal["serve", "work", "all"] = "all"
    listen: Annotated[str, AfterValidator(_address)] = "127.0.0.1:50052"
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    database_url: SecretStr
    max_connections: int = Field(default=10, ge=1, le=1_000)
    redis_url: SecretStr
    redis_seconds: float = Field(default=0.25, gt=0, le=60)
    internal_key: Annotated[SecretStr, AfterValidator(_internal_key)]
    model_dir: Path = Path("~/.cache/rearview/models")
    embedder: str = Field(
        default="onnx:multilingual-e5-small", pattern=r"^(onnx|sentence-transformers|flag|http):[^\s]+$"
    )
    embedder_url: str | None = None
    embedder_api_key: SecretStr | None = None
    worker_concurrency: int = Field(default=4, ge=1, le=100)
    index_batch_events: int = Field(default=64, ge=1, le=1_000)
    merge_batch_units: int = Field(default=200, ge=1, le=10_000)
    segment_gap_minutes: float = Field(default=30.0, gt=0, le=100_000)
    session_silent_minutes: float = Field(default=10.0, gt=0, le=100_000)
    start_seconds: float = Field(default=60.0, ge=0, le=3_600)
    max_concurrent_calls: int = Field(default=1_000, ge=1, le=100_000)
    drain_seconds: float = Field(default=10.0, ge=0, le=600)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
