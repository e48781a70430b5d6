"""`restore.json` in a data folder: a restore that has begun and not ended. As long as it is there nothing is served."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from rearview.embedded.backup.errors import RestoreUnfinished
from rearview.embedded.paths import DataFolder
from rearview.embedded.private_files import read_json, write_private_json

LOADING, ERASING = "loading", "erasing"
NAME = "restore.json"


@dataclass(frozen=True, slots=True)
class Marker:
    """Which backup is restored, from where, and whether it is loaded (`phase` ERASING) or still to be (LOADING)."""

    backup_id: str
    source: str
    phase: str

    def write(self, folder: DataFolder) -> None:
        write_private_json(_path(folder), asdict(self))


def read_marker(folder: DataFolder) -> Marker | None:
    """Return the marker, None when no restore is under way."""
    content = read_json(_path(folder))
    if content is None:
        return Marker("", "BACKUP", LOADING) if _path(folder).exists() else None
    return Marker(*(str(content.get(name, "")) for name in ("backup_id", "source", "phase")))


def remove_marker(folder: DataFolder) -> None:
    """Say that the restore has ended."""
    _path(folder).unlink()


def refuse_unfinished_restore(folder: DataFolder) -> None:
    """Refuse to serve what is not restored to its end.

    Raises:
        RestoreUnfinished: there is a marker.
    """
    marker = read_marker(folder)
    if marker is not None:
        raise RestoreUnfinished(folder.root, marker.source)


def _path(folder: DataFolder) -> Path:
    return folder.root / NAME
