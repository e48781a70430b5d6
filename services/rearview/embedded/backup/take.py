"""Taking a backup while everything runs.

The objects that the catalog names are copied first, the long part, then a snapshot of the database is opened and what
its catalog names besides is copied while it is held. Only when every object of the snapshot is there is the database
dumped, under that same snapshot. Objects are immutable and named by their content, so a copy made before the snapshot
is the object that it names. One that a purge or compaction deleted between the snapshot and the copy is noticed, and
the backup tries again with a newer snapshot: no backup is finished that lacks an object.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from rearview.adapters.postgres.backup import Snapshot, dump, open_snapshot, segment_keys
from rearview.adapters.s3.objects import S3Objects
from rearview.domain.errors import NotFound
from rearview.domain.ids import new_id
from rearview.embedded.backup.errors import ObjectsKeepChanging
from rearview.embedded.backup.files import BackupFolder
from rearview.embedded.backup.manifest import DATABASE, OBJECTS, SECRETS, Manifest
from rearview.embedded.backup.stores import Stores, postgres_programs

AUDIT_PLACE = "audit/"
_ATTEMPTS = 5
_COPIES = 4

Show = Callable[[str, int], Callable[[int], None]]
"""Is told a step's name and how much there is to it, and returns what is told of each part done."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A finished backup: where it is, its manifest, and how often it had to begin with a newer snapshot."""

    path: Path
    manifest: Manifest
    attempts: int


def take_backup(stores: Stores, target: Path, show: Show, *, secrets_file: Path | None = None) -> Taken:
    """Write a backup to a folder that does not exist, or to one file when its name ends in `.tar`.

    `secrets_file` is a stack's, without which nobody could start it again. Nothing is left of a backup that fails.

    Raises:
        BackupError: see its classes.
        Unavailable: a store cannot be reached.
    """
    programs = postgres_programs()
    with BackupFolder(target) as folder:
        # Anchors of the audit may be older than its records, never newer.
        asyncio.run(_copy_anchors(stores, folder))
        for attempt in range(1, _ATTEMPTS + 1):
            asyncio.run(_copy(stores, folder, segment_keys(stores.owner_url), show))
            with open_snapshot(stores.owner_url) as snapshot:
                if asyncio.run(_copy(stores, folder, snapshot.segment_keys, show)):
                    continue
                _drop_others(folder, snapshot)
                _dump(programs, stores, snapshot, folder, show)
            if secrets_file is not None:
                with folder.part(SECRETS) as write:
                    write(secrets_file.read_bytes())
            manifest = _manifest(folder, snapshot)
            folder.finish(manifest)
            return Taken(target, manifest, attempt)
    raise ObjectsKeepChanging(
        f"cold segments were replaced while they were copied, {_ATTEMPTS} times; repeat when fewer purges run"
    )


def _dump(programs: Path, stores: Stores, snapshot: Snapshot, folder: BackupFolder, show: Show) -> None:
    shown = show("database", snapshot.database_bytes)
    with folder.part(DATABASE) as write:

        def keep(data: bytes) -> None:
            write(data)
            shown(len(data))

        dump(programs, stores.owner_url, snapshot, keep)


async def _copy_anchors(stores: Stores, folder: BackupFolder) -> None:
    async with stores.objects() as objects:
        keys = {version.key async for page in objects.versions(AUDIT_PLACE) for version in page}
        for key in sorted(keys):
            await _copy_one(objects, folder, key)


async def _copy(stores: Stores, folder: BackupFolder, keys: Iterable[str], show: Show) -> list[str]:
    """Copy objects that the folder lacks; return the keys of those that are not there any more."""
    there = {part.name for part in folder.parts}
    wanted = [key for key in keys if OBJECTS + key not in there]
    if not wanted:
        return []
    shown = show("objects", len(wanted))
    gone: list[str] = []
    async with stores.objects() as objects:
        for start in range(0, len(wanted), _COPIES):
            some = wanted[start : start + _COPIES]
            copied = await asyncio.gather(*(_copy_one(objects, folder, key) for key in some))
            gone += [key for key, well in zip(some, copied, strict=True) if not well]
            shown(len(some))
    return gone


async def _copy_one(objects: S3Objects, folder: BackupFolder, key: str) -> bool:
    try:
        content = await objects.get(key)
    except NotFound:
        return False
    with folder.part(OBJECTS + key) as write:
        write(content)
    return True


def _drop_others(folder: BackupFolder, snapshot: Snapshot) -> None:
    """Drop what was copied and is not of the snapshot: replaced segments, in which there may be what was erased."""
    named = {OBJECTS + key for key in snapshot.segment_keys}
    for part in folder.parts:
        if part.name.startswith(OBJECTS) and not part.name.startswith(OBJECTS + AUDIT_PLACE) and part.name not in named:
            folder.drop(part.name)


def _manifest(folder: BackupFolder, snapshot: Snapshot) -> Manifest:
    return Manifest(
        backup_id=str(new_id()),
        created_at=snapshot.taken_at.astimezone(UTC).isoformat(),
        postgres_version=snapshot.server_version,
        migrations=snapshot.migrations,
        generations=snapshot.generations,
        tenants=snapshot.tenants,
        counts=snapshot.counts,
        parts=tuple(folder.parts),
    )
