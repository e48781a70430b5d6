"""The retriever's configuration, from the environment. All bad values are reported at once, none is printed."""

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


class RetrieverConfig(BaseSettings):
    """Read once; the variables carry the prefix `REARVIEW_`.

    Attributes:
        listen: where the internal API is served.
        metrics_port: where Prometheus metrics are served, on the interface of `listen`; None serves none.
        database_url: PostgreSQL as the role rearview_service.
        redis_url: Redis or Valkey, for working memory and access counts.
        internal_key: checks the identities that the gateway signs, and signs page tokens.
        recall_seconds: how long a recall may take, whatever the caller's deadline.
        working_memory_seconds: how long a recall waits for working memory; then it goes on without.
        relevance_floor: candidates of less relevance are not returned.
        vector_floor: candidates that share no word with the query need a vector so many deviations above the rest.
        reranker: kind and model, as `flag:BAAI/bge-reranker-v2-m3`; with `none` the features decide.
        rerank_depth: how many candidates it sees.
        rerank_seconds: its time budget.
        trace_queue: how many traces and access counts may wait to be written; further ones are dropped and counted.
    """

    model_config = SettingsConfigDict(env_prefix="REARVIEW_", frozen=True, hide_input_in_errors=True)

    listen: Annotated[str, AfterValidator(_address)] = "127.0.0.1:50053"
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    database_url: SecretStr
    max_connections: int = Field(default=10, ge=1, le=1_000)
    redis_url: SecretStr
    internal_key: Annotated[SecretStr, AfterValidator(_internal_key)]
    recall_seconds: float = Field(default=5.0, gt=0, le=600)
    working_memory_seconds: float = Field(default=0.25, gt=0, le=60)
    relevance_floor: float = Field(default=0.0, ge=0, le=1)
    vector_floor: float = Field(default=1.0, ge=-10, le=10)
    reranker: str = Field(default="none", pattern=r"^(none|(flag|cross-encoder):[^\s]+)$")
    rerank_depth: int = Field(default=40, ge=1, le=100)
    rerank_seconds: float = Field(default=0.5, gt=0, le=60)
    trace_queue: int = Field(default=1_000, ge=1, le=100_000)
    max_concurrent_calls: int = Field(default=1_000, ge=1, le=100_000)
    drain_seconds: float = Field(default=10.0, ge=0, le=600)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
