"""Restoring a backup into an empty data folder.

In this order: everything is checked, nothing written; the secrets are put in place and the database and the objects
are loaded; the tombstone ledger is replayed, from where on nothing that it names could be read; the worker and the
lifecycle service run without a gateway until all of it is erased and the receipts are verified. A marker lies in the
folder from the first step to the last, and no stack is started from a folder with a marker.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from rearview.adapters.postgres.backup import load
from rearview.adapters.postgres.tombstone_ledger import left_to_erase
from rearview.domain.tombstone_ledger import Ledger
from rearview.embedded.background import stop
from rearview.embedded.backup.errors import ErasureUnfinished, LedgerForeign, NotABackup, TargetNotEmpty, WrongVersion
from rearview.embedded.backup.files import BackupSource
from rearview.embedded.backup.ledger_file import read_ledger_file
from rearview.embedded.backup.manifest import DATABASE, OBJECTS, SECRETS, Manifest
from rearview.embedded.backup.marker import ERASING, LOADING, NAME, Marker, read_marker, remove_marker
from rearview.embedded.backup.stores import Stores, postgres_programs
from rearview.embedded.backup.take import Show
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import AlreadyRunning, StackError
from rearview.embedded.folder_lock import holder
from rearview.embedded.paths import DataFolder
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.secrets import SecretsFile
from rearview.embedded.stack import Stack
from rearview.embedded.wiring import ServiceContext, Wiring, service_specs
from rearview.lifecycle.app import open_replayer
from rearview.lifecycle.config import LifecycleConfig
from rearview.lifecycle.fault_points import FaultPoints
from rearview.migrate.app import MigrationFailed, known_migrations, migrate

_ERASERS = ("worker", "lifecycle")
_SETTLE = {"REARVIEW_ERASURE_SETTLE_SECONDS": "1"}  # no request is under way that might still write
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.3


@dataclass(slots=True)
class Restored:
    """What a restore did: how many entries of the ledger led to what, up to which moment the ledger reached, how many
    forgets wait for a legal hold of the backup to be lifted."""

    manifest: Manifest
    replayed: Mapping[str, int] = field(default_factory=dict)
    reached: datetime | None = None
    held: int = 0


class Restore:
    """One restore of a backup into a data folder."""

    def __init__(
        self,
        folder: DataFolder,
        show: Show,
        *,
        erasure_seconds: float,
        faults: FaultPoints,
    ) -> None:
        """`erasure_seconds` bounds the wait for what the ledger names to be erased."""
        self._folder = folder
        self._show = show
        self._erasure_seconds = erasure_seconds
        self._faults = faults

    def run(self, path: Path, ledger_path: Path | None) -> Restored:
        """Restore. One that was killed goes on when it is run again, or begins anew.

        Raises:
            BackupError: see its classes; but for ErasureUnfinished nothing was begun.
            StackError: a server did not start, or a step failed; run it again.
            Unavailable: likewise.
        """
        with BackupSource(path) as source:
            manifest = source.manifest
            unknown = sorted(set(manifest.migrations) - set(known_migrations()))
            if unknown:
                raise WrongVersion(
                    f"the backup's schema has {', '.join(unknown)}, which this version does not know; restore it with "
                    "the version of Rearview that made it or a later one"
                )
            if not any(part.name == SECRETS for part in manifest.parts):
                raise NotABackup(
                    f"{path} is of a database without its stack: it holds no {SECRETS}; a data folder is restored from "
                    "a backup of a data folder"
                )
            ledger = _checked_ledger(ledger_path, manifest)
            marker = self._check_target()
            source.verify(self._show("verify", sum(part.bytes for part in manifest.parts)))
            restored = Restored(manifest, reached=ledger.reached if ledger else None)
            stop(self._folder, _STOP_SECONDS)  # what a killed restore left running
            loaded = marker is not None and (marker.phase, marker.backup_id) == (ERASING, manifest.backup_id)
            if not loaded:
                self._clear()
                self._mark(path, manifest, LOADING)
                self._faults.reach("restore.marked")
                secrets = self._folder.secrets_file
                secrets.touch(mode=0o600)
                secrets.write_bytes(source.read(SECRETS))
            left: list[int] = []

            def bring() -> None:
                if not loaded:
                    self._load(source)
                    self._mark(path, manifest, ERASING)
                left.append(self._replay(ledger, restored))

            self._with_stack(Wiring.dependencies_only(), bring)
            if any(left):
                wiring = replace(Wiring(), migrate=None, services=_erasers, tenant_id=None)
                self._with_stack(wiring, lambda: self._erase(left[0]))
            remove_marker(self._folder)
        return restored

    def _check_target(self) -> Marker | None:
        root = self._folder.root
        held = holder(self._folder.lock_file)
        if held is not None:
            raise AlreadyRunning(str(root), held.pid)
        marker = read_marker(self._folder)
        if marker is None and root.exists():
            found = sorted(entry.name for entry in root.iterdir()) if root.is_dir() else [root.name]
            if found:
                raise TargetNotEmpty(root, found)
        return marker

    def _clear(self) -> None:
        """Remove what a restore that was killed has loaded; models stay."""
        root = self._folder.root
        for entry in root.iterdir() if root.is_dir() else ():
            if entry.name in (NAME, self._folder.models.name):
                continue
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def _mark(self, path: Path, manifest: Manifest, phase: str) -> None:
        self._folder.create()
        Marker(manifest.backup_id, str(path.absolute()), phase).write(self._folder)

    def _with_stack(self, wiring: Wiring, work: Callable[[], None]) -> None:
        asyncio.run(Stack(self._folder, wiring).run(lambda: asyncio.to_thread(work)))

    def _load(self, source: BackupSource) -> None:
        stores = self._stores()
        shown = self._show("database", _bytes_of(source.manifest, DATABASE))
        load(
            postgres_programs(),
            self._endpoints().postgres_superuser_url,
            stores.owner_url,
            _seen(source, DATABASE, shown),
        )
        try:
            migrate(stores.owner_url)
        except MigrationFailed as error:
            raise StackError(str(error)) from error
        self._faults.reach("restore.database_loaded")
        names = [part.name for part in source.manifest.parts if part.name.startswith(OBJECTS)]
        if names:
            asyncio.run(_put(stores, source, names, self._show("objects", len(names))))
        self._faults.reach("restore.objects_loaded")

    def _replay(self, ledger: Ledger | None, restored: Restored) -> int:
        stores = self._stores()
        if ledger is not None:
            shown = self._show("ledger", len(ledger.forgets) + len(ledger.deletions))
            restored.replayed = asyncio.run(_replayed(self._config(stores), stores.owner_url, ledger, shown))
        self._faults.reach("restore.replayed")
        left, restored.held = left_to_erase(stores.owner_url)
        return left

    def _erase(self, left: int) -> None:
        owner_url, until = self._stores().owner_url, time.monotonic() + self._erasure_seconds
        shown = self._show("erase", left)
        while left:
            if time.monotonic() > until:
                raise ErasureUnfinished(
                    f"{left} of what the ledger names are out of reach and not erased yet after "
                    f"{self._erasure_seconds:g} s; run the same command again, it goes on"
                )
            time.sleep(_POLL_SECONDS)
            now, _ = left_to_erase(owner_url)
            shown(max(0, left - now))
            left = now

    def _endpoints(self) -> Endpoints:
        endpoints = Endpoints.read(self._folder.endpoints_file)
        if endpoints is None:
            raise StackError(f"{self._folder.endpoints_file} was not written; see {self._folder.logs}")
        return endpoints

    def _stores(self) -> Stores:
        return Stores.of_stack(self._endpoints())

    def _config(self, stores: Stores) -> LifecycleConfig:
        secrets = SecretsFile(self._folder.secrets_file).load()
        assert secrets is not None  # noqa: S101 -- the backup has brought them
        return LifecycleConfig.model_validate(
            {
                "database_url": stores.owner_url,
                "redis_url": self._endpoints().redis_url,
                "internal_key": secrets.internal_key,
                "s3_endpoint": stores.s3_endpoint,
                "s3_access_key": stores.s3_access_key,
                "s3_secret_key": stores.s3_secret_key,
                "s3_bucket": stores.s3_bucket,
                "s3_secure": stores.s3_secure,
            }
        )


def _checked_ledger(path: Path | None, manifest: Manifest) -> Ledger | None:
    if path is None:
        return None
    ledger = read_ledger_file(path)
    tenants = {str(tenant_id) for tenant_id in ledger.tenant_ids}
    if tenants and manifest.tenants and not tenants & set(manifest.tenants):
        raise LedgerForeign(path)
    return ledger


async def _replayed(
    config: LifecycleConfig, owner_url: str, ledger: Ledger, shown: Callable[[int], None]
) -> Mapping[str, int]:
    async with open_replayer(config, owner_url) as replayer:
        return await replayer.replay(ledger, shown)


async def _put(stores: Stores, source: BackupSource, names: Sequence[str], shown: Callable[[int], None]) -> None:
    async with stores.objects() as objects:
        for name in names:
            await objects.put(name.removeprefix(OBJECTS), source.read(name))
            shown(1)


def _seen(source: BackupSource, name: str, shown: Callable[[int], None]) -> Iterator[bytes]:
    for data in source.chunks(name):
        yield data
        shown(len(data))


def _bytes_of(manifest: Manifest, name: str) -> int:
    return next(part.bytes for part in manifest.parts if part.name == name)


def _erasers(context: ServiceContext) -> list[ProcessSpec]:
    return [
        replace(spec, environment={**spec.environment, **_SETTLE})
        for spec in service_specs(context)
        if spec.name in _ERASERS
    ]
