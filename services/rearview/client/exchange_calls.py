"""Calls that stream exports and imports."""

from collections.abc import Callable, Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from rearview.client.call import Defaults
from rearview.client.export_file import Part, checked_parts, lines_of
from rearview.client.values import namespace_name
from rearview.domain.errors import invalid_field
from rearview.v1 import memory_service_pb2 as pb

EXPORT_PATH = "/rearview.v1.MemoryService/ExportMemories"
IMPORT_PATH = "/rearview.v1.MemoryService/ImportMemories"
CALL_TIMEOUT_SECONDS = 600.0
"""A call that stores or reads much has at least so long."""

_LINES_A_CALL = 200
_BYTES_A_CALL = 8 * 1024 * 1024
_MOST_PROBLEMS = 100

OnLines: TypeAlias = Callable[[int, int], None]
"""Told, after each call, how many lines are taken in and how many there are."""

ImportSteps: TypeAlias = Generator[list[pb.ImportMemoriesRequest], pb.ImportMemoriesResponse, pb.ImportMemoriesResponse]
"""Yields the messages of one call after the other, is sent their answers, and returns them taken together."""


def export_request(defaults: Defaults, namespace: str | None, *, include_history: bool) -> pb.ExportMemoriesRequest:
    """Return the request for an export."""
    return pb.ExportMemoriesRequest(parent=namespace_name(defaults, namespace), include_history=include_history)


def import_steps(
    defaults: Defaults,
    path: str | Path,
    namespace: str | None,
    *,
    dry_run: bool,
    resume: bool,
    on_lines: OnLines | None,
) -> ImportSteps:
    """Return the calls that take in a file.

    Raises:
        InvalidFields: the file is not what was exported, or its exports cannot all go into one namespace.
    """
    file = Path(path)
    try:
        parts = checked_parts(file)
    except OSError as error:
        raise invalid_field("path", f"cannot be read: {error.strerror}") from error
    if namespace is not None and len(parts) > 1:
        raise invalid_field("namespace", f"the file holds {len(parts)} namespaces, which do not go into one")
    total, done = sum(part.lines for part in parts), 0
    result = pb.ImportMemoriesResponse()
    for part in parts:
        target = namespace if namespace is not None or len(parts) == 1 else part.manifest.namespace
        steps = _part_steps(namespace_name(defaults, target), file, part, dry_run=dry_run, resume=resume)
        messages = next(steps)
        while True:
            answer = yield messages
            _add(result, answer)
            if on_lines is not None:
                on_lines(done + answer.line_count, total)
            try:
                messages = steps.send(answer)
            except StopIteration:
                break
        done += part.lines
    result.line_count = done
    result.complete = not dry_run
    return result


def _part_steps(
    parent: str, file: Path, part: Part, *, dry_run: bool, resume: bool
) -> Generator[list[pb.ImportMemoriesRequest], pb.ImportMemoriesResponse, None]:
    lines = lines_of(file, part)
    manifest = next(lines)
    begun = yield [pb.ImportMemoriesRequest(parent=parent, line=manifest, dry_run=dry_run, restart=not resume)]
    done = begun.line_count
    for _ in islice(lines, done - 1):
        pass
    while done < part.lines:
        first = pb.ImportMemoriesRequest(parent=parent, line=manifest, dry_run=dry_run, after_line=done)
        following = _some(lines)
        if not following:
            raise invalid_field("path", "became shorter while it was taken in")
        answer = yield [first, *following]
        done = answer.line_count


def _some(lines: Iterator[str]) -> list[pb.ImportMemoriesRequest]:
    messages: list[pb.ImportMemoriesRequest] = []
    size = 0
    for line in lines:
        messages.append(pb.ImportMemoriesRequest(line=line))
        size += len(line)
        if len(messages) >= _LINES_A_CALL or size >= _BYTES_A_CALL:
            break
    return messages


def _add(result: pb.ImportMemoriesResponse, answer: pb.ImportMemoriesResponse) -> None:
    for field in result.DESCRIPTOR.fields:
        if field.name.endswith("_count"):
            setattr(result, field.name, getattr(result, field.name) + getattr(answer, field.name))
    result.problems.extend(answer.problems[: _MOST_PROBLEMS - len(result.problems)])
