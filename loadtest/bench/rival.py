"""A contender in a process of its own, seen from the one that measures; and the embedding endpoint."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from loadtest.bench.contender import Surroundings
from loadtest.bench.datasets import Asked, Dataset
from loadtest.bench.usage import tree

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".bench-venvs"
OWN = "rearview"
RIVALS = ("langgraph", "mem0", "hindsight")
STOP_TIMEOUT_SECONDS = 60.0

OnDone = Callable[[int], None]


def python_of(name: str) -> Path:
    """Return the interpreter of a contender's environment, which need not exist."""
    return Path(sys.executable) if name == OWN else ENVIRONMENTS / name / "bin" / "python"


@dataclass(frozen=True, slots=True)
class Answers:
    """What a round of recalls brought: hits (each the source ids it cites) of each query that was asked, the seconds
    of each, and of all together."""

    hits: list[list[list[str]]]
    seconds: list[float]
    elapsed: float


class Rival:
    """Gives commands to a contender's process; see `serve`."""

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(python_of(name)), "-m", "loadtest.bench.serve", name],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": _python_path(name), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                start_new_session=True,  # Linux shares processors out among sessions: all servers have one
            )
        self._log = log

    def open(self, surroundings: Surroundings) -> None:
        """Have it start whatever has to run."""
        self._command({"do": "open", "surroundings": asdict(surroundings)})

    def ingest(self, dataset: Dataset, clients: int, on_done: OnDone) -> float:
        """Keep a data set; return the seconds until all of it can be recalled."""
        return sum(
            float(
                self._command(
                    {"do": "ingest", "space": space, "items": [asdict(i) for i in items], "clients": clients}, on_done
                )["seconds"]
            )
            for space, items in dataset.spaces.items()
        )

    def recall(
        self, asked: Sequence[Asked], k: int, clients: int, on_done: OnDone, at_most_seconds: float | None = None
    ) -> Answers:
        """Ask, and return the answers; those after the time are left out."""
        queries = [{"space": one.space, **asdict(one.query)} for one in asked]
        command = {"do": "recall", "queries": queries, "k": k, "clients": clients, "at_most_seconds": at_most_seconds}
        return Answers(**self._command(command, on_done))

    def processes(self) -> list[psutil.Process]:
        """Return its process and those that it has started."""
        return tree(self._process.pid)

    def close(self) -> None:
        """End it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _command(self, command: Mapping[str, Any], on_done: OnDone = lambda _: None) -> Any:
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process has no pipes")
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            answer = json.loads(line)
            if "done" in answer:
                on_done(answer["done"])
            elif "error" in answer:
                raise RuntimeError(f"{self.name}: {answer['error']} (more in {self._log})")
            else:
                return answer["result"]
        raise RuntimeError(f"{self.name} ended with {self._process.wait()}; see {self._log}")


@contextmanager
def embedding_endpoint(models: Path) -> Iterator[tuple[str, int]]:
    """Yield the base URL and the process id of a running endpoint."""
    process = subprocess.Popen(
        [sys.executable, "-m", "loadtest.bench.embedding_endpoint", str(models)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": _python_path(OWN)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        url = process.stdout.readline().strip() if process.stdout else ""
        if not url:
            raise RuntimeError("the embedding endpoint did not come up")
        yield url, process.pid
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.wait(STOP_TIMEOUT_SECONDS)
        if process.stdout is not None:
            process.stdout.close()


def _python_path(name: str) -> str:
    return os.pathsep.join([str(ROOT), *([str(ROOT / "services")] if name == OWN else [])])
