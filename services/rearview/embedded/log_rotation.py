"""Logs of child processes, bounded in size: `<name>.log`, then `.1` (newest) to `.<keep>` (oldest)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

MAX_SIZE_BYTES = 10 * 1024 * 1024
KEEP_FILES = 3
LONGEST_LINE_BYTES = 16 * 1024
TAIL_BYTES = 8 * 1024


class RotatingLog:
    """Appends bytes to a file and starts a new one before it would exceed `max_size_bytes`.

    A chunk is cut at its last line end where that is possible, so that a rotation does not split a line.
    """

    def __init__(self, path: Path, max_size_bytes: int = MAX_SIZE_BYTES, keep_files: int = KEEP_FILES) -> None:
        """The file is opened when something is written, and again should that have failed (a full disk)."""
        self._path = path
        self._max_size_bytes = max_size_bytes
        self._keep_files = keep_files
        self._file: BinaryIO | None = None
        self._size_bytes = 0

    def write(self, chunk: bytes) -> None:
        """Append a chunk.

        Raises:
            OSError: it could not be written, wholly or in part; the next one may be.
        """
        self._opened()
        if self._size_bytes and self._size_bytes + len(chunk) > self._max_size_bytes:
            room = max(0, self._max_size_bytes - self._size_bytes)
            line_end = chunk.rfind(b"\n", 0, room) + 1
            self._append(chunk[:line_end])
            chunk = chunk[line_end:]
            self._rotate()
        self._append(chunk)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _append(self, chunk: bytes) -> None:
        if chunk:
            self._opened().write(chunk)
            self._size_bytes += len(chunk)

    def _rotate(self) -> None:
        self.close()
        for number in range(self._keep_files, 0, -1):
            older = self._numbered(number - 1) if number > 1 else self._path
            if older.exists():
                older.replace(self._numbered(number))

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._file = self._path.open("ab", buffering=0)
            self._size_bytes = self._path.stat().st_size
        return self._file

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


class LineSplitter:
    """Cuts a byte stream into text lines for the console; over-long lines are shortened, not buffered."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._pending = b""

    def feed(self, chunk: bytes) -> None:
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        for line in lines:
            self._emit(line)
        if len(self._pending) > LONGEST_LINE_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._pending:
            self._emit(self._pending)
            self._pending = b""

    def _emit(self, line: bytes) -> None:
        self._on_line(line[:LONGEST_LINE_BYTES].decode("utf-8", errors="replace").rstrip("\r"))


def tail(path: Path, lines: int = 15) -> str:
    """Return the last lines of a log, an empty text when there is none."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
