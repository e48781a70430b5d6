"""Opens what reads cold segments, as a service's configuration says."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from rearview.adapters.cold.cold_reader import ColdReader, ColdReaderRounds
from rearview.adapters.cold.rehydration import SegmentRehydrator
from rearview.adapters.cold.segment_files import SegmentFiles
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.tiering import PostgresTiering
from rearview.adapters.s3.objects import S3Objects
from rearview.ports.clock import Clock


class ColdSettings(Protocol):
    """The part of a service's configuration that this needs; see `ObjectStorageConfig`."""

    @property
    def s3_endpoint(self) -> str: ...
    @property
    def s3_access_key(self) -> SecretStr: ...
    @property
    def s3_secret_key(self) -> SecretStr: ...
    @property
    def s3_bucket(self) -> str: ...
    @property
    def s3_secure(self) -> bool: ...
    @property
    def s3_region(self) -> str: ...
    @property
    def s3_seconds(self) -> float: ...
    @property
    def cold_cache_dir(self) -> Path | None: ...
    @property
    def cold_cache_bytes(self) -> int: ...
    @property
    def cold_block_bytes(self) -> int: ...
    @property
    def cold_idle_seconds(self) -> float: ...
    @property
    def cold_check_seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Cold:
    """Open object storage, with what reads segments in it."""

    objects: S3Objects
    files: SegmentFiles
    reader: ColdReader
    rehydrator: SegmentRehydrator


@asynccontextmanager
async def open_cold(
    settings: ColdSettings,
    database: Database,
    clock: Clock,
    *,
    keeps_copies: bool = True,
    on_step: Callable[[str], None] = lambda _step: None,
) -> AsyncIterator[Cold]:
    """Yield what reads segments; without `keeps_copies` what was read is not kept for the next reader. `on_step` is
    told the name of each step of a rehydration that ended."""
    async with AsyncExitStack() as stack:
        objects = await stack.enter_async_context(
            S3Objects(
                settings.s3_endpoint,
                settings.s3_access_key.get_secret_value(),
                settings.s3_secret_key.get_secret_value(),
                settings.s3_bucket,
                secure=settings.s3_secure,
                region=settings.s3_region,
                timeout_seconds=settings.s3_seconds,
            )
        )
        files = SegmentFiles(
            folder=settings.cold_cache_dir,
            index_bytes=settings.cold_cache_bytes if keeps_copies else 0,
            payload_bytes=settings.cold_block_bytes if keeps_copies else 0,
            idle_seconds=settings.cold_idle_seconds,
        )
        store = PostgresTiering(database)
        await stack.enter_async_context(
            ColdReaderRounds(files, store.gone_segments, interval_seconds=settings.cold_check_seconds)
        )
        reader = ColdReader(objects, files)
        stack.push_async_callback(reader.close)
        yield Cold(objects, files, reader, SegmentRehydrator(store, reader, clock, on_step=on_step))
