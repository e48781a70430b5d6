"""Calls made by several clients at a time, and how long each took."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rearview.client import Client
from rearview.evaluation.bench_texts import BenchSession, bench_sessions
from rearview.evaluation.ingest import append_session, fresh_namespace, wait_until_indexed
from rearview.evaluation.measures import percentile_milliseconds

WARM_UP_TURNS = 20
_WARM_UP_SEED = 1

Timed = Callable[[], float]
"""A piece of work that returns how many seconds of it count."""


@dataclass(frozen=True, slots=True)
class BenchFigures:
    """What a benchmark measured.

    Attributes:
        namespace: where its memories are.
        seconds: how long each piece of work took.
        units: how many units of work were done.
        elapsed_seconds: how long all of it took.
    """

    namespace: str
    seconds: Sequence[float]
    units: int
    elapsed_seconds: float

    def as_json(self) -> dict[str, object]:
        """Return the figures under the names that all benchmarks share."""
        return {
            **{f"p{percent}_ms": percentile_milliseconds(self.seconds, percent) for percent in (50, 95, 99)},
            "per_s": round(self.units / self.elapsed_seconds, 1) if self.elapsed_seconds else 0.0,
        }


def timed(call: Callable[[], object]) -> float:
    """Return how many seconds a call took."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def run_clients(work: Iterable[Timed], clients: int, on_done: Callable[[int], None]) -> tuple[list[float], float]:
    """Do pieces of work, `clients` at a time, in their order; return the seconds of each, and of all together.

    Raises what a piece of work raises first; what has not begun then is left.
    """
    pieces, seconds, taking = iter(work), list[float](), threading.Lock()
    failed = threading.Event()

    def client() -> None:
        while not failed.is_set():
            with taking:
                piece = next(pieces, None)
            if piece is None:
                return
            try:
                spent = piece()
            except BaseException:
                failed.set()
                raise
            with taking:
                seconds.append(spent)
                on_done(1)

    started = time.perf_counter()
    with ThreadPoolExecutor(clients, thread_name_prefix="bench") as pool:
        running = [pool.submit(client) for _ in range(clients)]
    elapsed = time.perf_counter() - started
    for ended in running:
        ended.result()
    return seconds, elapsed


def warmed_up_namespace(client: Client) -> str:
    """Return a fresh namespace, once the stack has stored, indexed and found something elsewhere."""
    elsewhere = fresh_namespace(client, "bench")
    fill(client, elsewhere, bench_sessions(WARM_UP_TURNS, seed=_WARM_UP_SEED), 1, lambda _: None)
    wait_until_indexed(client, elsewhere, lambda _: None)
    client.recall("预算 budget", namespace=elsewhere, no_cache=True)
    return fresh_namespace(client, "bench")


def fill(
    client: Client, namespace: str, sessions: Iterable[BenchSession], clients: int, on_turns: Callable[[int], None]
) -> list[float]:
    """Append sessions whole, several at a time, and end them; return the seconds of each."""

    def append(session: BenchSession) -> Timed:
        return lambda: timed(lambda: append_session(client, namespace, session.name, session.turns, on_turns))

    return run_clients((append(session) for session in sessions), clients, lambda _: None)[0]
