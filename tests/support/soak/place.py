"""Where a run keeps its data: a small file system of its own, where one can be made, so that it may be filled."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE_MIB = 3072
CLOCK_LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1")


@contextmanager
def small_disk() -> Iterator[tuple[Path, bool]]:
    """Yield a folder, and whether it is a small file system of its own: who may mount one gets a tmpfs."""
    with tempfile.TemporaryDirectory(prefix="rearview-soak-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # PostgreSQL's account passes through
        mount = folder / "disk"
        mount.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m,mode=0711", "rearview-soak", str(mount)]
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
        try:
            yield mount, mounted
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", str(mount)], check=True)


def clock_library(given: str) -> str:
    """Return libfaketime's path, as given or where Debian's package `libfaketime` puts it; empty if it is not there."""
    if given:
        return given
    for pattern in CLOCK_LIBRARIES:
        for found in sorted(Path("/").glob(pattern.lstrip("/"))):
            return str(found)
    return ""
