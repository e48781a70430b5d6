"""PostgreSQL's settings, scaled to the machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from rearview.embedded.machine_memory import memory_bytes

MIB = 1024 * 1024
GIB = 1024 * MIB
SHARED_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 -- looked at, not written to


def settings(data_folder: Path, port: int, socket_folder: str) -> dict[str, str]:
    """Return `postgresql.conf` as a mapping; `socket_folder` as the server will see it.

    A quarter of the memory, at most 2 GiB, is cache of the server's own. Index builds may use an eighth, but no more
    than half of what /dev/shm has free: parallel builds allocate there.
    """
    memory = memory_bytes()
    shared_memory = shutil.disk_usage(SHARED_MEMORY_FOLDER).free if SHARED_MEMORY_FOLDER.is_dir() else GIB
    disk_free = shutil.disk_usage(data_folder).free
    cpus = os.cpu_count() or 1
    return {
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": socket_folder,
        "unix_socket_permissions": "0700",
        "cluster_name": "rearview",
        "max_connections": "120",
        "shared_buffers": _megabytes(memory // 4, lowest=64 * MIB, highest=2 * GIB),
        "effective_cache_size": _megabytes(memory // 2, lowest=128 * MIB, highest=64 * GIB),
        "work_mem": _megabytes(memory // 128, lowest=4 * MIB, highest=64 * MIB),
        "maintenance_work_mem": _megabytes(min(memory // 8, shared_memory // 2), lowest=32 * MIB, highest=2 * GIB),
        "max_wal_size": _megabytes(disk_free // 20, lowest=256 * MIB, highest=4 * GIB),
        "max_parallel_maintenance_workers": str(min(4, cpus)),
        "wal_compression": "on",
        "checkpoint_completion_target": "0.9",
        # Short statements over indexes: compiling them costs more than running them.
        "jit": "off",
        # Solid-state disks: an index read costs hardly more than a sequential one.
        "random_page_cost": "1.1",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_line_prefix": "%m [%p] %q%u@%d ",
        "log_checkpoints": "off",
        # No statement texts in the log: they may hold what users wrote.
        "log_statement": "none",
        "log_min_error_statement": "panic",
        "log_parameter_max_length": "0",
        "log_parameter_max_length_on_error": "0",
        "password_encryption": "scram-sha-256",
    }


def render(values: dict[str, str]) -> str:
    """Return the text of a configuration file."""
    lines = [
        "# Written at each start of the stack. To change a setting for good, use ALTER SYSTEM: it outranks this file."
    ]
    lines += [f"{name} = '{_quoted(value)}'" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")


def _megabytes(size_bytes: int, *, lowest: int, highest: int) -> str:
    return f"{max(lowest, min(highest, size_bytes)) // MIB}MB"
