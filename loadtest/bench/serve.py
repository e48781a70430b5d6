"""Runs one contender: `python -m loadtest.bench.serve NAME`, in the contender's environment; standard library only.

Reads a command a line (JSON) and answers each with a line: `{"done": N}` any number of times, then `{"result": ...}` or
`{"error": "..."}`. What contenders print goes to stderr. It ends with its input.
"""

import importlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, TextIO, TypeVar

from loadtest.bench.contender import Contender, Item, Query, Surroundings

CONTENDERS = {
    "rearview": ("loadtest.bench.contenders.rearview_stack", "RearviewStack"),
    "langgraph": ("loadtest.bench.contenders.langgraph_store", "LangGraphStore"),
    "mem0": ("loadtest.bench.contenders.mem0_memory", "Mem0Memory"),
    "hindsight": ("loadtest.bench.contenders.hindsight_server", "HindsightServer"),
}
NOTES_A_BATCH = 50

T = TypeVar("T")


class Commands:
    """Carries out commands and writes answers."""

    def __init__(self, name: str, answers: TextIO) -> None:
        self._name = name
        self._answers = answers
        self._contender: Contender | None = None
        self._writing = threading.Lock()

    def carry_out(self, command: dict[str, Any]) -> None:
        """Do it and answer."""
        action: Callable[[dict[str, Any]], object] = getattr(self, f"_{command['do']}")
        try:
            self._answer({"result": action(command)})
        except Exception as error:  # noqa: BLE001 - the other side is to learn of whatever it was
            traceback.print_exc()
            self._answer({"error": f"{type(error).__name__}: {error}"})

    def _answer(self, content: dict[str, object]) -> None:
        with self._writing:
            self._answers.write(json.dumps(content) + "\n")
            self._answers.flush()

    def _open(self, command: dict[str, Any]) -> None:
        module, name = CONTENDERS[self._name]
        self._contender = getattr(importlib.import_module(module), name)(Surroundings.read(command["surroundings"]))

    def _ingest(self, command: dict[str, Any]) -> dict[str, float]:
        contender, space = self._opened(), command["space"]
        items = [Item(**item) for item in command["items"]]

        def keep(session: list[Item]) -> None:
            contender.ingest(space, session)
            self._answer({"done": len(session)})

        started = time.perf_counter()
        in_turn(keep, sessions(items), command["clients"], None)
        contender.settle(space)
        return {"seconds": time.perf_counter() - started}

    def _recall(self, command: dict[str, Any]) -> dict[str, object]:
        contender, k = self._opened(), command["k"]
        hits: dict[int, list[list[str]]] = {}
        seconds: list[float] = []

        def ask(numbered: tuple[int, dict[str, Any]]) -> None:
            number, asked = numbered
            query = Query(asked["text"], tuple((role, text) for role, text in asked["dialogue"]), asked["asked_at"])
            started = time.perf_counter()
            found = contender.recall(asked["space"], query, k)
            seconds.append(time.perf_counter() - started)
            hits[number] = found
            self._answer({"done": 1})

        started = time.perf_counter()
        in_turn(ask, enumerate(command["queries"]), command["clients"], command["at_most_seconds"])
        elapsed = time.perf_counter() - started
        return {"hits": [hits[number] for number in sorted(hits)], "seconds": seconds, "elapsed": elapsed}

    def close(self) -> None:
        """End what the contender has started; whoever gave commands may be gone."""
        if self._contender is not None:
            self._contender.close()

    def _opened(self) -> Contender:
        if self._contender is None:
            raise RuntimeError("open it first")
        return self._contender


def sessions(items: list[Item]) -> list[list[Item]]:
    """Return the items by session, in order; notes come in batches."""
    parts: list[list[Item]] = []
    for session, group in groupby(items, key=lambda item: item.session):
        whole = list(group)
        size = len(whole) if session else NOTES_A_BATCH
        parts.extend(whole[start : start + size] for start in range(0, len(whole), size))
    return parts


def in_turn(work: Callable[[T], None], pieces: Iterable[T], clients: int, at_most_seconds: float | None) -> None:
    """Do the pieces, so many at a time, in their order; none is begun after the time.

    Raises what a piece raises first; what has not begun then is left.
    """
    left, taking, failed = iter(pieces), threading.Lock(), threading.Event()
    ends_at = time.monotonic() + at_most_seconds if at_most_seconds else None

    def client() -> None:
        while not failed.is_set() and (ends_at is None or time.monotonic() < ends_at):
            with taking:
                try:
                    piece = next(left)
                except StopIteration:
                    return
            try:
                work(piece)
            except BaseException:
                failed.set()
                raise

    with ThreadPoolExecutor(clients, thread_name_prefix="client") as pool:
        running = [pool.submit(client) for _ in range(clients)]
    for ended in running:
        ended.result()


def main() -> None:
    """Serve the contender named on the command line."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    commands = Commands(sys.argv[1], answers)
    try:
        for line in sys.stdin:
            commands.carry_out(json.loads(line))
    finally:
        commands.close()


if __name__ == "__main__":
    main()
