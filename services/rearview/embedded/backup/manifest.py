"""`manifest.json`: what a backup is of, and the size and checksum of each of its parts."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import PurePosixPath
from typing import Any

from rearview.embedded.backup.errors import NotABackup, PartDamaged, WrongVersion

NAME = "manifest.json"
DATABASE = "database.dump"
SECRETS = "secrets.json"
OBJECTS = "objects/"
FORMAT = "rearview-backup"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the backup: its name with slashes, its size in bytes, its SHA-256 in hexadecimal digits."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. `created_at` is the moment of the database's snapshot, ISO 8601 in UTC;
    `migrations` are those that its schema has had."""

    backup_id: str
    created_at: str
    postgres_version: str
    migrations: tuple[str, ...]
    generations: tuple[Mapping[str, Any], ...]
    tenants: tuple[str, ...]
    counts: Mapping[str, int]
    parts: tuple[Part, ...]

    @property
    def schema(self) -> str:
        """The newest migration, the job queue's own apart."""
        return max((name for name in self.migrations if name[0].isdigit()), default="")

    def to_json(self) -> str:
        """Return the file's content."""
        content = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(self)}
        return json.dumps({**content, "digest": _digest(content)}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Return what a file's content says.

        Raises:
            NotABackup: it is not the manifest of a backup.
            WrongVersion: a newer version wrote it.
            PartDamaged: it is not what was written.
        """
        try:
            content = json.loads(text)
            is_backup = isinstance(content, dict) and content.get("format") == FORMAT
        except ValueError:
            raise PartDamaged(NAME, "is damaged: it is not JSON") from None
        if not is_backup:
            raise NotABackup(f"{NAME} is not of a backup of Rearview")
        if content.get("format_version") != FORMAT_VERSION:
            raise WrongVersion(
                f"the backup has the format version {content.get('format_version')}, this installation reads "
                f"{FORMAT_VERSION}; restore it with the version of Rearview that made it or a later one"
            )
        digest = content.pop("digest", None)
        if digest != _digest(content):
            raise PartDamaged(NAME, "is damaged: its digest is another")
        values = {field.name: content[field.name] for field in fields(cls)}
        for name in ("migrations", "generations", "tenants"):
            values[name] = tuple(values[name])
        values["parts"] = tuple(Part(**part) for part in values["parts"])
        for part in values["parts"]:
            _check_name(part.name)
        return cls(**values)


def _check_name(name: str) -> None:
    path = PurePosixPath(name)
    known = name in (DATABASE, SECRETS) or name.startswith(OBJECTS)
    if not known or path.is_absolute() or ".." in path.parts or str(path) != name:
        raise PartDamaged(NAME, f"names a part that no backup has: {name!r}")


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
