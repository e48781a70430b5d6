"""Taking in exports, line by line: what is held at any moment is one batch of lines."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from rearview.domain.errors import Conflict, InvalidFields, invalid_field
from rearview.domain.exchange.reading import read
from rearview.domain.exchange.records import (
    EMPTY_CHECKSUM,
    End,
    ExportedEvent,
    ExportedMemory,
    Manifest,
    Record,
    chained,
)
from rearview.domain.principal import Scope
from rearview.ports.clock import Clock
from rearview.ports.importing import ImportBatch, ImportStore, Progress
from rearview.redaction.texts import RedactionParts
from rearview.writer.imports.import_batch import BatchMaker, Numbered
from rearview.writer.imports.tally import Tally
from rearview.writer.imports.units import UnitParts

BATCH_LINES = 200
BATCH_BYTES = 4 * 1024 * 1024
_MOST_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What the first message of an import says; see `rearview.v1.ImportMemoriesRequest`."""

    manifest: str
    after_line: int = 0
    dry_run: bool = False
    restart: bool = False


class ImportMemories:
    """The use case of `ImportMemories`."""

    def __init__(self, store: ImportStore, parts: UnitParts, redaction: RedactionParts, clock: Clock) -> None:
        self._store = store
        self._parts = parts
        self._redaction = redaction
        self._clock = clock

    async def take_in(self, scope: Scope, request: ImportRequest, lines: AsyncIterator[str]) -> Tally:
        """Take in lines of an export; those of which nothing can be stored are told, and the others are stored.

        Raises:
            InvalidFields: the manifest cannot be read, is of another schema version, the lines do not follow those that
                were taken in, or the last line's checksum is not theirs.
            Conflict: another call goes on with this import.
            ModelUnavailable, Unavailable: what came before stays stored; ask how far it is and go on.
        """
        manifest = read(request.manifest)
        if not isinstance(manifest, Manifest):
            raise invalid_field("line", "the first line is to be the manifest")
        run = await self._run(scope, request, manifest)
        async for line in lines:
            await run.take(line)
        await run.flush()
        return run.tally

    async def _run(self, scope: Scope, request: ImportRequest, manifest: Manifest) -> "_Run":
        maker = BatchMaker(
            self._store, self._parts, self._redaction, scope, manifest.namespace_id, dry_run=request.dry_run
        )
        first = Progress(1, chained(EMPTY_CHECKSUM, request.manifest))
        if request.dry_run:
            after = max(request.after_line, 1)
            return _Run(self._store, maker, self._clock, scope, manifest, replace(first, lines=after), 0, dry_run=True)
        if request.restart:
            await self._store.end(scope, manifest.export_id)
        begun = await self._store.progress(scope, manifest.export_id)
        progress = begun or first
        run = _Run(self._store, maker, self._clock, scope, manifest, progress, begun.lines if begun else 0)
        run.expects = max(request.after_line, 1)
        return run


class _Run:
    """One call's share of an import."""

    def __init__(
        self,
        store: ImportStore,
        maker: BatchMaker,
        clock: Clock,
        scope: Scope,
        manifest: Manifest,
        progress: Progress,
        stored_lines: int,
        *,
        dry_run: bool = False,
    ) -> None:
        self._store = store
        self._maker = maker
        self._clock = clock
        self._scope = scope
        self._manifest = manifest
        self._progress = progress
        self._stored_lines = stored_lines
        self._dry_run = dry_run
        self._batch: list[Numbered] = []
        self._bytes = 0
        # A dry run that begins in the middle has not seen the lines before.
        self._checks = not dry_run or progress.lines == 1
        self.expects = progress.lines
        self.tally = Tally(lines=progress.lines)

    async def take(self, line: str) -> None:
        """Take in one line."""
        if self.expects != self._progress.lines:
            raise invalid_field(
                "after_line", f"{self._progress.lines} lines of this export are taken in; send those that follow"
            )
        if self.tally.complete:
            raise invalid_field("line", "nothing is to follow the last line")
        number = self._progress.lines + 1
        record = self._read(number, line)
        if isinstance(record, End):
            await self._end(record)
            return
        if record is not None and self._batch and type(record) is not type(self._batch[-1].record):
            await self.flush()
        self._progress = replace(self._progress, lines=number, checksum=chained(self._progress.checksum, line))
        self.expects = number
        if record is not None:
            self._batch.append(Numbered(number, record))
        self._bytes += len(line)
        if len(self._batch) >= BATCH_LINES or self._bytes >= BATCH_BYTES:
            await self.flush()

    async def flush(self) -> None:
        """Store what was taken in."""
        if self._progress.lines == self.tally.lines:
            return
        lines, self._batch, self._bytes = self._batch, [], 0
        for _ in range(_MOST_ATTEMPTS):
            tally = await self._store_once(lines)
            if tally is not None:
                self.tally.add(tally)
                self.tally.lines = self._progress.lines
                return
        raise Conflict("others kept forgetting what is imported; go on later", retry_after_seconds=1.0)

    async def _store_once(self, lines: Sequence[Numbered]) -> Tally | None:
        now = self._clock.now()
        made = await self._maker.prepared(lines, self._progress.touched_sessions, now)
        self._progress = replace(self._progress, touched_sessions=made.touched)
        if self._dry_run:
            return made.tally
        batch = ImportBatch(
            export_id=self._manifest.export_id,
            before=self._stored_lines,
            progress=self._progress,
            ids=made.ids,
            known=made.known,
            source_namespace_id=self._manifest.namespace_id,
            events=made.events,
            memories=made.memories,
        )
        stored = await self._store.write(self._scope, batch, now=now)
        if stored is None:
            return None
        self._stored_lines = self._progress.lines
        made.tally.stored, made.tally.stored_events = stored.memories, stored.events
        made.tally.superseded = stored.superseded
        return made.tally

    async def _end(self, end: End) -> None:
        await self.flush()
        if self._checks and end.checksum != self._progress.checksum:
            raise invalid_field("checksum", "the lines are not those that were exported; take an intact copy")
        if not self._dry_run:
            await self._store.end(self._scope, self._manifest.export_id)
        self._progress = replace(self._progress, lines=self._progress.lines + 1)
        self.tally.lines = self._progress.lines
        self.tally.complete = True

    def _read(self, number: int, line: str) -> ExportedEvent | ExportedMemory | End | None:
        try:
            record: Record = read(line)
            if isinstance(record, Manifest):
                raise invalid_field("kind", "another manifest; take in one export at a time")
        except InvalidFields as error:
            self.tally.wrong(number, error)
            return None
        return record
