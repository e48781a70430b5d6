"""Hindsight's API server without a language model (provider "none": it keeps what it is given as it stands), with its
reranker set to the order of its own fusion: the weights of its cross-encoder come from a hub."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from loadtest.bench.contender import MOST_ITEMS_A_CALL, Item, Query, Surroundings
from loadtest.bench.embedding_client import PASSAGE, QUERY

START_TIMEOUT_SECONDS = 180.0
STOP_TIMEOUT_SECONDS = 30.0


class HindsightServer:
    """See `Contender`; a space is a bank, a turn a document whose id is its source id."""

    def __init__(self, surroundings: Surroundings) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self._log = (Path(surroundings.folder) / "hindsight.log").open("ab")
        self._server = subprocess.Popen(
            [str(Path(sys.executable).with_name("hindsight-api")), "--host", "127.0.0.1", "--port", str(port)],
            env={**os.environ, **_environment(surroundings)},
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,  # as Rearview's servers have one each
        )
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600.0)
        self._wait_until_up()

    def ingest(self, space: str, items: Sequence[Item]) -> None:
        for start in range(0, len(items), MOST_ITEMS_A_CALL):
            kept = [_kept(item) for item in items[start : start + MOST_ITEMS_A_CALL]]
            self._post(f"/v1/default/banks/{space}/memories", {"items": kept, "async": False})

    def settle(self, space: str) -> None:
        """Nothing is left to do: what is kept synchronously is indexed."""

    def recall(self, space: str, query: Query, k: int) -> list[list[str]]:
        asked: dict[str, Any] = {"query": query.plain()}
        if query.asked_at:
            asked["query_timestamp"] = query.asked_at
        found = self._post(f"/v1/default/banks/{space}/memories/recall", asked)
        return [[hit["document_id"]] for hit in found["results"][:k]]

    def close(self) -> None:
        self._client.close()
        self._server.terminate()
        try:
            self._server.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._log.close()

    def _post(self, path: str, content: dict[str, Any]) -> Any:
        answer = self._client.post(path, json=content)
        if answer.is_error:
            raise RuntimeError(f"Hindsight answered {answer.status_code}: {answer.text[:500]}")
        return answer.json()

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            if self._server.poll() is not None:
                raise RuntimeError(f"hindsight-api ended with {self._server.returncode}; see {self._log.name}")
            try:
                if self._client.get("/health").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.2)
        raise RuntimeError(f"hindsight-api did not come up; see {self._log.name}")


def _kept(item: Item) -> dict[str, Any]:
    said_at = {"timestamp": item.said_at} if item.said_at else {}
    return {"content": item.plain(), "document_id": item.source_id, "metadata": item.labels, **said_at}


def _environment(surroundings: Surroundings) -> dict[str, str]:
    return {
        "HINDSIGHT_API_DATABASE_URL": surroundings.database_url,
        "HINDSIGHT_API_LLM_PROVIDER": "none",
        "HINDSIGHT_API_RERANKER_PROVIDER": "rrf",
        "HINDSIGHT_API_EMBEDDINGS_PROVIDER": "openai",
        "HINDSIGHT_API_EMBEDDINGS_OPENAI_API_KEY": "not-used",
        "HINDSIGHT_API_EMBEDDINGS_OPENAI_BASE_URL": surroundings.embeddings_url,
        "HINDSIGHT_API_EMBEDDINGS_OPENAI_MODEL": "multilingual-e5-small",
        "HINDSIGHT_API_EMBEDDINGS_QUERY_PREFIX": QUERY,
        "HINDSIGHT_API_EMBEDDINGS_PASSAGE_PREFIX": PASSAGE,
        "HINDSIGHT_API_LOG_LEVEL": "warning",
    }
