"""Rearview: the running embedded stack with default settings, through the public client."""

import threading
from collections.abc import Sequence
from datetime import datetime

from loadtest.bench.contender import Item, Query, Surroundings
from rearview.client import Client, Turn
from rearview.client.memory_calls import NewMemory
from rearview.domain.errors import RearviewError
from rearview.evaluation.ingest import append_session, wait_until_indexed

TIMEOUT_SECONDS = 60.0
MOST_CITED = 3
"""Of a hit's source events, as `rearview eval locomo` counts; by default a hit is a turn and cites one."""


class RearviewStack:
    """See `Contender`; a space is a namespace."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._client = Client.from_endpoints(surroundings.endpoints_file, key="admin", timeout_seconds=TIMEOUT_SECONDS)
        self._source_of: dict[str, str] = {}
        self._made: set[str] = set()
        self._making = threading.Lock()

    def ingest(self, space: str, items: Sequence[Item]) -> None:
        with self._making:
            if space not in self._made:
                self._client.create_namespace(space, display_name="Made by make bench")
                self._made.add(space)
        if items[0].session:
            turns = [
                Turn("user", item.text or "...", item.speaker, _moment(item.said_at), None, item.caption)
                for item in items
            ]
            names = append_session(self._client, space, items[0].session, turns, lambda _: None)
        else:
            names = self._remember(space, items)
        self._source_of.update(zip(names, (item.source_id for item in items), strict=True))

    def settle(self, space: str) -> None:
        wait_until_indexed(self._client, space, lambda _: None)

    def recall(self, space: str, query: Query, k: int) -> list[list[str]]:
        answer = self._client.recall(
            query.text,
            dialogue=query.dialogue,
            namespace=space,
            top_k=k,
            reference_time=_moment(query.asked_at),
            no_cache=True,
        )
        cited = [list(hit.events[:MOST_CITED]) or [hit.memory.name] for hit in answer.hits]
        return [[self._source_of[name] for name in names if name in self._source_of] for names in cited]

    def close(self) -> None:
        self._client.close()

    def _remember(self, space: str, items: Sequence[Item]) -> list[str]:
        notes = [NewMemory(item.text, labels=item.labels, occurred_at=_moment(item.said_at)) for item in items]
        names = []
        for result in self._client.batch_remember(notes, namespace=space):
            if isinstance(result, RearviewError):
                raise result
            names.append(result.memory.name)
        return names


def _moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
