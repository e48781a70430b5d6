"""The retriever's configuration, from the environment."""

from pydantic import Field, SecretStr

from rearview.rpc.service_config import ObjectStorageConfig, ServiceConfig, VaultConfig
from rearview.rpc.settings import Listen


class RetrieverConfig(VaultConfig, ObjectStorageConfig, ServiceConfig):
    """Read once; the variables carry the prefix `REARVIEW_`.

    Attributes:
        redis_url: Redis or Valkey, for working memory and access counts.
        recall_seconds: how long a recall may take, whatever the caller's deadline.
        working_memory_seconds: how long a recall waits for working memory at least, and as long as the database takes
            anyway; then it goes on without.
        relevance_floor: candidates of less relevance are not returned.
        vector_floor: candidates that share no word with the query need a vector so many deviations above the rest.
        reranker: kind and model, as `flag:BAAI/bge-reranker-v2-m3`; with `none` the features decide.
        rerank_depth: how many candidates it sees.
        rerank_seconds: its time budget.
        index_sample_seconds: how often a recall's vector search is compared with an exact one; 0 never does.
        vector_copies_megabytes: how much memory copies of the vectors of often asked namespaces may take, one for some
            2,500 search units; with 0 there are none, and the database's index answers always.
        trace_queue: how many traces and access counts may wait to be written; further ones are dropped and counted.
    """

    listen: Listen = "127.0.0.1:50053"
    redis_url: SecretStr
    recall_seconds: float = Field(default=5.0, gt=0, le=600)
    working_memory_seconds: float = Field(default=0.25, gt=0, le=60)
    relevance_floor: float = Field(default=0.0, ge=0, le=1)
    vector_floor: float = Field(default=1.0, ge=-10, le=10)
    reranker: str = Field(default="none", pattern=r"^(none|(flag|cross-encoder):[^\s]+)$")
    rerank_depth: int = Field(default=40, ge=1, le=100)
    rerank_seconds: float = Field(default=0.5, gt=0, le=60)
    index_sample_seconds: float = Field(default=60.0, ge=0, le=86_400)
    vector_copies_megabytes: int = Field(default=256, ge=0, le=1_048_576)
    trace_queue: int = Field(default=1_000, ge=1, le=100_000)
