"""LangGraph's `PostgresStore` with its vector index (HNSW, cosine), as its documentation sets it up."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar

from langchain_core.embeddings import Embeddings
from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore

from loadtest.bench.contender import MOST_ITEMS_A_CALL, Item, Query, Surroundings
from loadtest.bench.embedding_client import DIMENSION, EmbeddingClient

CONNECTIONS = 8


class EndpointEmbeddings(Embeddings):
    """The endpoint's vectors, in the words of LangChain.

    The store embeds what is asked by `embed_documents` too, with the prompt of a passage. A model with two prompts
    finds half as much then, so the contender says when it asks.
    """

    def __init__(self, client: EmbeddingClient) -> None:
        self._client = client
        self._asking: ContextVar[bool] = ContextVar("asking", default=False)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Embed texts as queries within the block, in this thread."""
        before = self._asking.set(True)
        try:
            yield
        finally:
            self._asking.reset(before)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._client.queries(texts) if self._asking.get() else self._client.passages(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._client.query(text)


class LangGraphStore:
    """See `Contender`; a space is a namespace of one part, a turn an item whose key is its source id."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._opened = ExitStack()
        self._embeddings = EndpointEmbeddings(EmbeddingClient(surroundings.embeddings_url))
        self._store = self._opened.enter_context(
            PostgresStore.from_conn_string(
                surroundings.database_url,
                pool_config={"min_size": 1, "max_size": CONNECTIONS},
                index={
                    "dims": DIMENSION,
                    "embed": self._embeddings,
                    "fields": ["text"],
                },
            )
        )
        self._store.setup()

    def ingest(self, space: str, items: Sequence[Item]) -> None:
        for start in range(0, len(items), MOST_ITEMS_A_CALL):
            self._store.batch(
                [
                    PutOp((space,), item.source_id, {"text": item.plain(), "said_at": item.said_at, **item.labels})
                    for item in items[start : start + MOST_ITEMS_A_CALL]
                ]
            )

    def settle(self, space: str) -> None:
        """Nothing is left to do: what is put is indexed."""

    def recall(self, space: str, query: Query, k: int) -> list[list[str]]:
        with self._embeddings.asking():
            return [[hit.key] for hit in self._store.search((space,), query=query.plain(), limit=k)]

    def close(self) -> None:
        self._opened.close()
