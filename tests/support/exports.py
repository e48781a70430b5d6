"""Files of exports for tests: read, changed, and sealed again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rearview.client import Client
from rearview.domain.exchange.records import EMPTY_CHECKSUM, End, Manifest, chained
from rearview.domain.exchange.writing import written
from rearview.domain.ids import new_id


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
