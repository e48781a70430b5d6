"""The writer's configuration, from the environment."""

from typing import Literal

from pydantic import Field, FilePath, SecretStr

from rearview.rpc.service_config import EmbedderConfig, Listen, ObjectStorageConfig, ServiceConfig, VaultConfig


class WriterConfig(EmbedderConfig, VaultConfig, ObjectStorageConfig, ServiceConfig):
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
        attributes_file: your own attributes of facts, beside the shipped ones; see `language/data/attributes.yaml`.
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
    attributes_file: FilePath | None = None
    start_seconds: float = Field(default=60.0, ge=0, le=3_600)
