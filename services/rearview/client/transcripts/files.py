"""Transcripts in files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rearview.client.transcripts.messages import MessageReader
from rearview.client.transcripts.said import Said, TranscriptError, numbered, session_of

FORMATS = ("auto", "jsonl", "openai", "anthropic", "sharegpt")
"""`openai`, `anthropic` and `sharegpt` are whole JSON documents, told apart by what is in them; `jsonl` is read line by
line and may be of any length. `auto`: by the file's ending."""

_LISTS = ("messages", "conversations", "conversation", "turns", "events")
_LINES = (".jsonl", ".ndjson")


def read_transcript(file: Path, *, format: str = "auto", session: str = "") -> Iterator[Said]:  # noqa: A002
    """Yield the turns of a file in their order.

    Sessions are named by the file where it says (`session`, `session_id`, `id`), else by `session`, else after the
    file. A file of several conversations has a session for each.

    Raises:
        ValueError: the file is not of its format; the message names the place.
        OSError: it cannot be read.
    """
    if format not in FORMATS:
        raise TranscriptError(f"format: {format!r} is none of {', '.join(FORMATS)}")
    default = session or session_of(file.stem)
    lines = format == "jsonl" or (format == "auto" and file.suffix.lower() in _LINES)
    return _Sessions(default).read(_lines(file) if lines else _document(file))


class _Sessions:
    """Numbers what is said, session by session; only what a conversation is in the middle of is held."""

    def __init__(self, default: str) -> None:
        self._default = default
        self._counts: dict[str, int] = {}
        self._session = ""
        self._reader = MessageReader()
        self._conversations = 0

    def read(self, rows: Iterator[tuple[str, object]]) -> Iterator[Said]:
        for place, row in rows:
            messages = _messages(row)
            if messages is None:
                yield from self._message(self._named(row) or self._session or self._default, row, place)
            else:
                yield from self._conversation(row, messages, place)
        yield from self._end()

    def _conversation(self, row: object, messages: Sequence[object], place: str) -> Iterator[Said]:
        yield from self._end()
        self._conversations += 1
        session = self._named(row)
        if not session:
            session = self._default if self._conversations == 1 else f"{self._default}-{self._conversations}"
        system = row.get("system") if isinstance(row, Mapping) else None
        if system:
            yield from self._message(session, {"role": "system", "content": system}, f"{place}.system")
        for number, message in enumerate(messages):
            yield from self._message(session, message, f"{place}[{number}]")
        yield from self._end()

    def _message(self, session: str, message: object, place: str) -> Iterator[Said]:
        if session != self._session:
            yield from self._end()
            self._session = session
        for turn in self._reader.turns(message, place):
            yield numbered(session, self._next(session), turn)

    def _end(self) -> Iterator[Said]:
        session, reader = self._session, self._reader
        self._session, self._reader = "", MessageReader()
        for turn in reader.unanswered():
            yield numbered(session, self._next(session), turn)

    def _next(self, session: str) -> int:
        self._counts[session] = self._counts.get(session, 0) + 1
        return self._counts[session]

    @staticmethod
    def _named(row: object) -> str:
        if not isinstance(row, Mapping):
            return ""
        names = ("session", "session_id", "conversation_id", *(("id",) if _messages(row) is not None else ()))
        return next((session_of(str(row[name])) for name in names if row.get(name)), "")


def _messages(row: object) -> Sequence[object] | None:
    """Return the messages of a conversation; None for a row that is itself a message."""
    if isinstance(row, list):
        return row
    if not isinstance(row, Mapping):
        return None
    found: list[object] | None = next((row[name] for name in _LISTS if isinstance(row.get(name), list)), None)
    return found


def _lines(file: Path) -> Iterator[tuple[str, object]]:
    with file.open(encoding="utf-8-sig") as lines:
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"{file}:{number}", json.loads(line)
        except json.JSONDecodeError as error:
            raise TranscriptError(f"{file}:{number}: not JSON: {error.msg} (column {error.colno})") from None
        except UnicodeDecodeError:
            raise TranscriptError(f"{file}: after line {number}: not UTF-8") from None
        except RecursionError:
            raise TranscriptError(f"{file}:{number}: nested too deep") from None


def _document(file: Path) -> Iterator[tuple[str, object]]:
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise TranscriptError(
            f"{file}:{error.lineno}: not JSON: {error.msg}; is it JSON Lines? then give the format jsonl"
        ) from None
    except UnicodeDecodeError:
        raise TranscriptError(f"{file}: not UTF-8") from None
    except RecursionError:
        raise TranscriptError(f"{file}: nested too deep") from None
    if _messages(content) is None:
        raise TranscriptError(f"{file}: expected a list of messages, or an object with one of {', '.join(_LISTS)}")
    if isinstance(content, list) and content and all(_messages(one) is not None for one in content):
        for number, conversation in enumerate(content):
            yield f"{file}[{number}]", conversation
    else:
        yield str(file), content
