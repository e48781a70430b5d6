"""Epochs of namespaces, and the additions between two of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np

from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.addition import Addition
from rearview.ports.epochs import Epoch

_SQL = load_queries("epochs")
_TIMEOUT_SECONDS = 2.0
_VALUE = np.dtype("<f2")

MAX_ADDITIONS = 64


class PostgresEpochs:
    """The `Epochs` port. `dimension` is the length of the vectors that additions hold."""

    def __init__(self, database: Database, dimension: int) -> None:
        self._database = database
        self._dimension = dimension

    async def read(self, tenant_id: UUID, namespace_ids: Collection[UUID]) -> Mapping[UUID, Epoch]:
        """Return the epochs of namespaces; see `Epochs.read`."""
        place = {"tenant_id": tenant_id, "namespace_ids": list(namespace_ids)}
        rows = await self._database.rows(tenant_id, _SQL["read"], place, timeout_seconds=_TIMEOUT_SECONDS)
        return epochs_in(rows, namespace_ids)

    async def additions(
        self, tenant_id: UUID, since: Mapping[UUID, Epoch], until: Mapping[UUID, Epoch]
    ) -> Mapping[UUID, Sequence[Addition]] | None:
        """Return the additions between two readings; see `Epochs.additions`."""
        moved = [
            (namespace_id, slot, since[namespace_id].additive.get(slot, 0), number)
            for namespace_id, epoch in until.items()
            for slot, number in epoch.additive.items()
            if number != since[namespace_id].additive.get(slot, 0)
        ]
        count = sum(number - before for _, _, before, number in moved)
        if not moved:
            return {}
        if count > MAX_ADDITIONS or any(number < before for _, _, before, number in moved):
            return None
        names = ("namespace_ids", "slots", "since", "until")
        place: dict[str, Any] = {
            name: list(values) for name, values in zip(names, zip(*moved, strict=True), strict=True)
        }
        rows = await self._database.rows(
            tenant_id, _SQL["additions"], {**place, "tenant_id": tenant_id}, timeout_seconds=_TIMEOUT_SECONDS
        )
        if len(rows) != count:
            return None
        added: dict[UUID, list[Addition]] = {}
        for row in rows:
            added.setdefault(row[0], []).append(self._addition(row))
        return added

    def _addition(self, row: Sequence[Any]) -> Addition:
        _, session_id, keywords, entities, vectors, languages, pending_to, indexed_to = row
        values = np.frombuffer(vectors, dtype=_VALUE).astype(np.float32)
        # Of another length they are of another model, and one row of them says that there are some.
        whole = values.size % self._dimension == 0
        rows = values.reshape(-1, self._dimension) if whole else values.reshape(1, -1)
        return Addition(
            session_id, frozenset(keywords), frozenset(entities), rows, tuple(languages), pending_to, indexed_to
        )


def epochs_in(rows: Iterable[Sequence[Any]], namespace_ids: Collection[UUID]) -> dict[UUID, Epoch]:
    """Return the epochs of namespaces from rows of (namespace id, slot, breaking, additive)."""
    breaking = dict.fromkeys(namespace_ids, 0)
    additive: dict[UUID, dict[int, int]] = {namespace_id: {} for namespace_id in namespace_ids}
    for namespace_id, slot, broken, added in rows:
        breaking[namespace_id] += broken
        additive[namespace_id][slot] = added
    return {namespace_id: Epoch(breaking[namespace_id], additive[namespace_id]) for namespace_id in namespace_ids}


async def note_addition(connection: Connection, tenant_id: UUID, namespace_id: UUID, addition: Addition) -> None:
    """Raise the additive epoch of a namespace and note what was added."""
    place = {
        "tenant_id": tenant_id,
        "namespace_id": namespace_id,
        "session_id": addition.session_id,
        "keywords": sorted(addition.keywords),
        "entities": sorted(addition.entities),
        "vectors": np.ascontiguousarray(addition.vectors, dtype=_VALUE).tobytes(),
        "languages": list(addition.languages),
        "pending_to": addition.pending_to,
        "indexed_to": addition.indexed_to,
    }
    await connection.execute(_SQL["note_addition"], place)
