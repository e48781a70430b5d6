"""Files of exports for tests: read, changed, and sealed again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from rearview.client import Client
from rearview.domain.exchange.records import EMPTY_CHECKSUM, End, Manifest, chained
from rearview.domain.exchange.writing import written
from rearview.domain.ids import new_id
from rearview.embedded.endpoints import Endpoints
from tests.support.client_steps import eventually, namespace_of


def exported(client: Client, path: Path, namespace: str | None = None) -> list[dict[str, Any]]:
    """Export a namespace to a file, and return its lines as they were read back."""
    path.write_text("".join(f"{line}\n" for line in client.export_memories(namespace)), encoding="utf-8")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sealed(path: Path, lines: Iterable[dict[str, Any] | str]) -> Path:
    """Write lines, the manifest among them, with the last line that belongs to them."""
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    checksum, kinds = EMPTY_CHECKSUM, [text for text in texts if '"kind": "event"' in text]
    for text in texts:
        checksum = chained(checksum, text)
    end = written(End(len(kinds), len(texts) - 1 - len(kinds), checksum))
    path.write_text("".join(f"{text}\n" for text in [*texts, end]), encoding="utf-8")
    return path


def made(path: Path, memories: Sequence[dict[str, Any]]) -> Path:
    """Write an export of memories that come from elsewhere: no vectors, no turns."""
    now = datetime.now(UTC)
    manifest = json.loads(written(Manifest(new_id(), now, "elsewhere", memories=len(memories))))
    common = {"kind": "memory", "type": "explicit", "occurred_at": now.isoformat()}
    return sealed(path, [manifest, *({**common, "id": str(new_id()), **memory} for memory in memories)])


def multiplied(path: Path, manifest: dict[str, Any], memory: dict[str, Any], contents: Iterable[str]) -> Path:
    """Write an export of memories that are like the given one, each with a text, an id and a vector of its own.

    It holds no more of it at a time than a line.
    """
    random = np.random.default_rng(0)
    (unit,) = memory["units"]
    dimension = len(base64.b64decode(unit["vector"])) // 2
    first = json.dumps({**manifest, "export_id": str(new_id())})
    checksum, count = chained(EMPTY_CHECKSUM, first), 0
    with path.open("w", encoding="utf-8") as out:
        out.write(f"{first}\n")
        for content in contents:
            own, vector = str(new_id()), random.standard_normal(dimension)
            encoded = base64.b64encode((vector / np.linalg.norm(vector)).astype("<f2").tobytes()).decode()
            units = [{**unit, "id": own, "vector": encoded, "terms": [], "weights": []}]
            line = json.dumps({**memory, "id": own, "content": content, "units": units}, ensure_ascii=False)
            checksum, count = chained(checksum, line), count + 1
            out.write(f"{line}\n")
        out.write(f"{written(End(0, count, checksum))}\n")
    return path


def at_rest(client: Client, endpoints: Endpoints) -> None:
    """Return when no job of the client's namespace waits or runs: summaries are told by jobs."""
    with psycopg.connect(endpoints.postgres_owner_url, autocommit=True) as connection:
        (namespace_id,) = connection.execute(
            "SELECT namespace_id FROM namespace WHERE name = %s", [namespace_of(client)]
        ).fetchone() or (None,)

        def waiting() -> int:
            row = connection.execute(
                "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
                " AND args ->> 'namespace_id' = %s AND coalesce(scheduled_at, now()) <= now()",
                [str(namespace_id)],
            ).fetchone()
            return int(row[0]) if row else 0

        eventually(waiting, lambda count: count == 0, "the jobs")
