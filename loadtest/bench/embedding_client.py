"""Asks the embedding endpoint; for contenders that take a Python object as their embedder."""

import httpx

QUERY, PASSAGE = "query: ", "passage: "
"""The prompts of the E5 models; the endpoint wants them in front of the texts, as the models do."""
DIMENSION = 384


class EmbeddingClient:
    """Vectors of the endpoint at a base URL (`http://127.0.0.1:1234/v1`). Threads may share it."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=120.0)

    def passages(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts that are kept."""
        return self._ask([PASSAGE + text for text in texts])

    def query(self, text: str) -> list[float]:
        """Return the vector of what is asked."""
        return self._ask([QUERY + text])[0]

    def queries(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of several texts that are asked for."""
        return self._ask([QUERY + text for text in texts])

    def _ask(self, prompted: list[str]) -> list[list[float]]:
        answer = self._client.post("/embeddings", json={"model": "multilingual-e5-small", "input": prompted})
        answer.raise_for_status()
        return [entry["embedding"] for entry in sorted(answer.json()["data"], key=lambda entry: entry["index"])]
