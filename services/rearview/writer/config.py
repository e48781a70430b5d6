"""The writer's configuration, from the environment."""

from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, FilePath, SecretStr, ValidationInfo, field_validator

from rearview.rpc.service_config import (
    EmbedderConfig,
    ObjectStorageConfig,
    ServiceConfig,
    VaultConfig,
)
from rearview.rpc.settings import Listen, Settings


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError("is no IANA time zone, such as Asia/Shanghai") from None
    return name


class ExtractorConfig(Settings):
    """What a service is told that reads facts out of turns.

    Attributes:
        extractor: who reads: the rules, or a model behind an OpenAI-compatible endpoint with the rules behind it.
        extractor_policy: when the model gives no reading, the rules read and say so, or the job is tried again.
        extractor_time_zone: in which days are meant that turns name ("next Friday").
        llm_url: the endpoint itself, for example `https://models.internal/v1/chat/completions`.
        llm_model: the model's name there.
        llm_api_key: its bearer token.
        llm_attempt_seconds: how long one attempt may take.
        llm_total_seconds: how long one reading may take, with waiting, attempts and pauses.
        llm_temperature: none for models that take none.
        llm_output_limit_field: what the endpoint calls the bound of an answer.
        llm_calls_per_minute, llm_calls_per_day, llm_tokens_per_day: what this process may spend.
        llm_tenant_calls_per_day, llm_tenant_tokens_per_day: what it may spend for one tenant; without limit if unset.
    """

    llm_url: str | None = None
    llm_model: str | None = None
    extractor: Literal["rules", "openai"] = "rules"
    extractor_policy: Literal["fall_back", "strict"] = "fall_back"
    extractor_time_zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    llm_api_key: SecretStr | None = None
    llm_attempt_seconds: float = Field(default=30.0, gt=0, le=600)
    llm_total_seconds: float = Field(default=60.0, gt=0, le=600)
    llm_temperature: float | None = Field(default=0.0, ge=0, le=2)
    llm_output_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    llm_calls_per_minute: int | None = Field(default=120, ge=1)
    llm_calls_per_day: int | None = Field(default=20_000, ge=1)
    llm_tokens_per_day: int | None = Field(default=20_000_000, ge=4_096)
    llm_tenant_calls_per_day: int | None = Field(default=None, ge=1)
    llm_tenant_tokens_per_day: int | None = Field(default=None, ge=4_096)

    @field_validator("extractor")
    @classmethod
    def _model_has_an_endpoint(cls, extractor: str, info: ValidationInfo) -> str:
        if extractor == "openai" and not (info.data.get("llm_url") and info.data.get("llm_model")):
            raise ValueError("openai needs REARVIEW_LLM_URL and REARVIEW_LLM_MODEL")
        return extractor


class WriterConfig(ExtractorConfig, EmbedderConfig, VaultConfig, ObjectStorageConfig, ServiceConfig):
    """Read once; the variables carry the prefix `REARVIEW_`.

    Attributes:
        writer_role: whether this process answers calls, works on jobs, or both.
        listen: where the internal API is served; health alone, where no calls are answered.
        max_connections: of each of the two pools, that of calls and that of jobs.
        redis_url: Redis or Valkey, for working memory.
        redis_seconds: how long an acknowledgement waits for working memory; then it goes on without.
        embed_seconds: how long a call or a job waits for the embedder; then it is told as unavailable.
        worker_concurrency: how many jobs run at a time.
        index_batch_events: how many events are analysed, embedded and written together.
        merge_batch_units: how many search units move into the vector index together.
        segment_gap_minutes: a pause longer than this ends an episode.
        session_silent_minutes: a session without a turn for so long is indexed to its end.
        default_max_memories, default_max_bytes: the quotas of tenants that have none of their own; 0 is none.
        attributes_file: your own attributes of facts, and topics of theirs, beside the shipped ones; see
            `language/data/attributes.yaml` and `topics.yaml`.
        start_seconds: how long the start waits for PostgreSQL and its schema.
    """

    writer_role: Literal["serve", "work", "all"] = "all"
    listen: Listen = "127.0.0.1:50052"
    redis_url: SecretStr
    redis_seconds: float = Field(default=0.25, gt=0, le=60)
    embed_seconds: float = Field(default=30.0, gt=0, le=600)
    worker_concurrency: int = Field(default=4, ge=1, le=100)
    index_batch_events: int = Field(default=64, ge=1, le=1_000)
    merge_batch_units: int = Field(default=200, ge=1, le=10_000)
    segment_gap_minutes: float = Field(default=30.0, gt=0, le=100_000)
    session_silent_minutes: float = Field(default=10.0, gt=0, le=100_000)
    default_max_memories: int = Field(default=0, ge=0)
    default_max_bytes: int = Field(default=0, ge=0)
    attributes_file: FilePath | None = None
    start_seconds: float = Field(default=60.0, ge=0, le=3_600)
