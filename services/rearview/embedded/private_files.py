"""Files that only their owner may read, replaced atomically."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path


def write_private_json(path: Path, content: Mapping[str, object]) -> None:
    """Replace `path` with `content` as JSON, mode 0600; a reader sees the old file or the new one, never half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        json.dump(content, file, indent=2, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_json(path: Path) -> dict[str, object] | None:
    """Return the JSON object in `path`; None when there is no file or it holds something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return content if isinstance(content, dict) else None
