"""mem0 without a language model (`infer=False`): pgvector with HNSW, its keyword search and its entities with spaCy."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"  # read when mem0 is imported

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

from loadtest.bench.contender import Item, Query, Surroundings
from loadtest.bench.embedding_client import DIMENSION, EmbeddingClient

CONNECTIONS = 8
NOT_USED = "not-used"


class EndpointEmbedding(EmbeddingBase):
    """The endpoint's vectors, in the words of mem0, whose own client has no prompts for queries."""

    def __init__(self, client: EmbeddingClient) -> None:
        super().__init__()
        self._client = client

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._client.query(text) if memory_action == "search" else self._client.passages([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str | None = "add") -> list[list[float]]:
        return self._client.queries(texts) if memory_action == "search" else self._client.passages(texts)


class Mem0Memory:
    """See `Contender`; a space is a user, a turn a memory with its source id in the metadata."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "pgvector",
                    "config": {
                        "connection_string": surroundings.database_url,
                        "collection_name": "mem0",
                        "embedding_model_dims": DIMENSION,
                        "hnsw": True,
                        "maxconn": CONNECTIONS,
                    },
                },
                "embedder": {
                    "provider": "openai",
                    "config": {"api_key": NOT_USED, "openai_base_url": surroundings.embeddings_url},
                },
                "llm": {"provider": "openai", "config": {"api_key": NOT_USED}},
                "history_db_path": str(Path(surroundings.folder) / "history.db"),
            }
        )
        self._memory.embedding_model = EndpointEmbedding(EmbeddingClient(surroundings.embeddings_url))
        self._memory.search("warm-up", filters={"user_id": "nobody"})  # makes the tables, loads spaCy's model

    def ingest(self, space: str, items: Sequence[Item]) -> None:
        for item in items:
            metadata: dict[str, Any] = {"source_id": item.source_id, "said_at": item.said_at, **item.labels}
            self._memory.add([{"role": "user", "content": item.plain()}], user_id=space, metadata=metadata, infer=False)

    def settle(self, space: str) -> None:
        """Nothing is left to do: what is added is indexed."""

    def recall(self, space: str, query: Query, k: int) -> list[list[str]]:
        found = self._memory.search(query.plain(), filters={"user_id": space}, top_k=k)
        return [[hit["metadata"]["source_id"]] for hit in found["results"]]

    def close(self) -> None:
        self._memory.close()
