"""How much memory this process may count on."""

from __future__ import annotations

from pathlib import Path

import psutil

CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory_bytes() -> int:
    """Return the machine's memory, or the container's limit where that is lower."""
    total = int(psutil.virtual_memory().total)
    for path in CGROUP_LIMITS:
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            total = min(total, int(text))
    return total
