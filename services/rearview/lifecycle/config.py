"""The lifecycle's configuration, from the environment. All bad values are reported at once, none is printed."""

import re
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


class LifecycleConfig(BaseSettings):
    """Read once; the variables carry the prefix `REARVIEW_`.

    Attributes:
        listen: where the internal API is served.
        metrics_port: where Prometheus metrics are served, on the interface of `listen`; None serves none.
        database_url: PostgreSQL as the role rearview_service.
        max_connections: of each of the two pools, that of calls and that of jobs and rounds.
        redis_url: Redis or Valkey, for working memory and access counts.
        redis_seconds: how long one operation on Redis may take.
        internal_key: checks the identities that the gateway signs, and signs page tokens.
        worker_concurrency: how many jobs run at a time.
        purge_batch: how many memories or events are erased in one transaction.
        job_attempts: how often a job is tried; purges that ended as dead letters are taken up again by a round.
        drain_counts_seconds: how often access counts are added to the memories' statistics.
        expire_seconds: how often outcomes of old requests and old recall traces are deleted.
        upkeep_seconds: how often work that was left behind is looked for.
        session_silent_minutes: a session without news for so long is closed, should its own job have been lost.
        units_unmerged_minutes: closed search units older than this are merged, should their own job have been lost.
        purge_overdue_minutes: a purge so long overdue is taken up again.
    """

    model_config = SettingsConfigDict(env_prefix="REARVIEW_", frozen=True, hide_input_in_errors=True)

    listen: Annotated[str, AfterValidator(_address)] = "127.0.0.1:50054"
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    database_url: SecretStr
    max_connections: int = Field(default=4, ge=1, le=1_000)
    redis_url: SecretStr
    redis_seconds: float = Field(default=2.0, gt=0, le=60)
    internal_key: Annotated[SecretStr, AfterValidator(_internal_key)]
    worker_concurrency: int = Field(default=2, ge=1, le=100)
    purge_batch: int = Field(default=200, ge=1, le=10_000)
    job_attempts: int = Field(default=15, ge=1, le=1_000)
    drain_counts_seconds: float = Field(default=10.0, gt=0, le=86_400)
    expire_seconds: float = Field(default=600.0, gt=0, le=86_400)
    upkeep_seconds: float = Field(default=60.0, gt=0, le=86_400)
    session_silent_minutes: float = Field(default=10.0, gt=0, le=100_000)
    units_unmerged_minutes: float = Field(default=10.0, gt=0, le=100_000)
    purge_overdue_minutes: float = Field(default=15.0, gt=0, le=100_000)
    max_concurrent_calls: int = Field(default=100, ge=1, le=100_000)
    drain_seconds: float = Field(default=10.0, ge=0, le=600)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
