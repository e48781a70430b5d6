"""Steps of many turns or memories: storing them, exports, and imports that may stop on their way."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rearview.client import Turn
from rearview.client.memory_calls import NewMemory
from rearview.domain.errors import RearviewError
from rearview.domain.ids import new_id
from rearview.evaluation.ingest import TURNS_PER_APPEND
from rearview.evaluation.scenarios.answer import Answer, of_import, of_texts
from rearview.evaluation.scenarios.place import Place
from rearview.evaluation.scenarios.scenario import AppendMany, ImportMemories, RememberMany

_MEMORIES_A_CALL = 100


class _StoppedError(Exception):
    """Ends an import on its way, as the end of its process would."""


def _remember_many(many: RememberMany, place: Place) -> Answer:
    memories = map(NewMemory, many.texts)
    stored: list[str] = []
    while batch := list(islice(memories, _MEMORIES_A_CALL)):
        for result in place.client.batch_remember(batch, namespace=place.namespace):
            if isinstance(result, RearviewError):
                raise result
            stored.append(result.memory.content)
    return of_texts(stored)


def _append_many(many: AppendMany, place: Place) -> Answer:
    for number in range(many.sessions):
        turns = (Turn("user", text) for text in many.texts[number :: many.sessions])
        while batch := list(islice(turns, TURNS_PER_APPEND)):
            request_id = str(new_id())
            for _ in range(2):
                place.client.append_events(f"s{number + 1}", batch, namespace=place.namespace, request_id=request_id)
    place.settle()
    return of_texts(many.texts)


def _export_memories(name: str, place: Place) -> Answer:
    place.stage.exports[name] = list(place.client.export_memories(place.namespace))
    return of_texts(place.stage.exports[name])


def _import_memories(wanted: ImportMemories, place: Place) -> Answer:
    lines_so_far = 0

    def stop(done: int, _: int) -> None:
        nonlocal lines_so_far
        lines_so_far = done
        if wanted.stop_after_lines is not None and done >= wanted.stop_after_lines:
            raise _StoppedError

    with TemporaryDirectory() as folder:
        file = Path(folder) / "export.jsonl"
        file.write_text("\n".join(place.stage.export(wanted.export)[: wanted.only_lines]), encoding="utf-8")
        try:
            result = place.client.import_memories(file, place.namespace, resume=wanted.resume, on_lines=stop)
        except _StoppedError:
            return of_texts([f"line_count={lines_so_far}"], complete=False)
    return of_import(result)


BULK_STEPS: dict[str, Callable[[Any, Place], Answer]] = {
    "append_many": _append_many,
    "remember_many": _remember_many,
    "export_memories": _export_memories,
    "import_memories": _import_memories,
}
