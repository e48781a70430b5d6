"""Files of exports: one export after the other, each from its manifest to its last line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rearview.domain.errors import FieldViolation, InvalidFields, invalid_field
from rearview.domain.exchange.reading import read
from rearview.domain.exchange.records import EMPTY_CHECKSUM, MAX_LINE_BYTES, End, Manifest, Record, chained

_END = '{"kind":"end"'
"""How the last line of an export begins, as it is written."""


@dataclass(frozen=True, slots=True)
class Part:
    """One export in a file: its manifest, where that begins, and how many lines it has."""

    manifest: Manifest
    offset: int
    lines: int


def checked_parts(path: Path) -> list[Part]:
    """Return the exports of a file that is as it was written.

    Only manifests and last lines are read closely; what is wrong with the others is told by the server.

    Raises:
        InvalidFields: the file is cut short, was changed, or is of another schema version.
        OSError: it cannot be read.
    """
    parts: list[Part] = []
    manifest: Manifest | None = None
    checksum, start, count = EMPTY_CHECKSUM, 0, 0
    for number, (offset, line) in enumerate(_lines(path, 0), 1):
        at = f"{path.name}:{number}"
        if manifest is None:
            manifest, checksum, start, count = _manifest(line, at), chained(EMPTY_CHECKSUM, line), offset, 1
            continue
        count += 1
        end = _end(line, at)
        if end is None:
            checksum = chained(checksum, line)
            continue
        if end.checksum != checksum:
            raise invalid_field(f"{at}.checksum", "the lines are not those that were exported; take an intact copy")
        parts.append(Part(manifest, start, count))
        manifest = None
    if manifest is not None or not parts:
        raise invalid_field(path.name, "is cut short: the last line of an export is missing; export again")
    return parts


def lines_of(path: Path, part: Part) -> Iterator[str]:
    """Yield the lines of one export, its manifest first."""
    for (_, line), _ in zip(_lines(path, part.offset), range(part.lines), strict=False):
        yield line


def _lines(path: Path, offset: int) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        file.seek(offset)
        while raw := file.readline(MAX_LINE_BYTES + 2):
            if len(raw) > MAX_LINE_BYTES + 1:
                raise invalid_field(path.name, f"holds a line of more than {MAX_LINE_BYTES} bytes")
            text = raw.decode("utf-8", "replace").rstrip("\r\n")
            if text:
                yield offset, text
            offset += len(raw)


def _manifest(line: str, at: str) -> Manifest:
    record = _read(line, at)
    if not isinstance(record, Manifest):
        raise invalid_field(at, "is to be the manifest of an export")
    return record


def _end(line: str, at: str) -> End | None:
    record = _read(line, at) if line.startswith(_END) else None
    return record if isinstance(record, End) else None


def _read(line: str, at: str) -> Record:
    try:
        return read(line)
    except InvalidFields as error:
        named = [FieldViolation(f"{at}.{one.field}", one.description) for one in error.violations]
        raise InvalidFields(*named) from error
