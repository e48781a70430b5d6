"""`rearview bench tiers`: how fast memories move between tiers, what recalls notice of it, and whether all arrive."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import NamedTuple

from rearview.client import Client
from rearview.evaluation.bench_load import Timed, run_clients, timed
from rearview.evaluation.bench_recall import Filling
from rearview.evaluation.ingest import fresh_namespace
from rearview.evaluation.measures import mean, percentile_milliseconds
from rearview.evaluation.progress import Steps
from rearview.v1 import lifecycle_pb2

AT_ONCE = timedelta(seconds=1)
NEVER = timedelta(days=36_500)
PATIENCE_SECONDS = 3_600.0
RECALLS = 200
_TEXTS = (
    ("第{n}号档案：{n}号仓库的备用钥匙放在第{n}格抽屉里。", "{n}号仓库的备用钥匙在哪里？"),
    ("Record {n}: the contract REF-{n} for room {n} ends in {n} days.", "When does the contract REF-{n} end?"),
)


def by_remembering(client: Client, memories: int, clients: int, steps: Steps) -> Filling:
    """Return what fills a namespace with notes of one search unit each."""

    def filled(namespace: str) -> Sequence[str]:
        def remember(text: str) -> Timed:
            return lambda: timed(lambda: client.remember(text, namespace=namespace))

        made = [[form.format(n=n) for form in _TEXTS[n % 2]] for n in range(1_000, 1_000 + memories)]
        run_clients((remember(text) for text, _ in made), clients, steps.start("remember", memories))
        return [question for _, question in made]

    return filled


class TierFigures(NamedTuple):
    """What was measured, in which namespace, and with which questions."""

    namespace: str
    questions: Sequence[str]
    figures: dict[str, object]


def bench_tiers(
    client: Client, filling: Filling, steps: Steps, *, settled: Callable[[], float], with_recalls: bool
) -> TierFigures:
    """Fill a namespace, sweep it to the warm and then to the cold tier, read and ask all again. `settled` waits for the
    database after the sweeps, and returns the seconds it took."""
    namespace = fresh_namespace(client, "bench")
    client.update_namespace_policy(namespace=namespace, warm_after=NEVER, cold_after=NEVER)
    swept(client, namespace)  # or the lifecycle's own round might come in between
    questions = filling(namespace)
    asking = _Asking(client, namespace, questions)
    stored = _read(client, namespace)
    figures: dict[str, object] = {"moved": len(stored)}
    if with_recalls:
        figures["recall_p95_ms"] = percentile_milliseconds(asking.some(steps), 95)
    time.sleep(2 * AT_ONCE.total_seconds())
    for name, cold_after in (("hot_to_warm", NEVER), ("warm_to_cold", AT_ONCE)):
        client.update_namespace_policy(namespace=namespace, warm_after=AT_ONCE, cold_after=cold_after)
        with asking.all_the_time(wanted=with_recalls) as seconds:
            operation = swept(client, namespace, steps)
        figures[f"{name}_per_s"] = _rate(operation, name)
        if with_recalls:
            figures[f"recall_p95_ms_{name}"] = percentile_milliseconds(seconds, 95)
    figures["settled_after_s"] = round(settled(), 1)
    figures.update(asking.cold(steps))
    found = _read(client, namespace)
    lost = sum(found.get(name) != text for name, text in stored.items()) + len(found.keys() - stored.keys())
    return TierFigures(namespace, questions, {**figures, "lost": lost})


class _Asking:
    """Recalls in one namespace, each past the cache."""

    def __init__(self, client: Client, namespace: str, questions: Sequence[str]) -> None:
        self._client, self._namespace, self._questions = client, namespace, questions
        self._next = count()

    def some(self, steps: Steps) -> list[float]:
        """Ask RECALLS questions, one after the other; return the seconds of each."""
        shown = steps.start("recall", RECALLS)
        seconds = []
        for _ in range(RECALLS):
            seconds.append(self._one())
            shown(1)
        return seconds

    @contextmanager
    def all_the_time(self, *, wanted: bool) -> Iterator[list[float]]:
        """Ask while the block runs; yields the seconds of each recall, as they come in."""
        seconds, ended = list[float](), threading.Event()

        def ask() -> None:
            while not ended.is_set():
                seconds.append(self._one())

        asking = threading.Thread(target=ask, name="recalls")
        if wanted:
            asking.start()
        try:
            yield seconds
        finally:
            ended.set()
            if wanted:
                asking.join()

    def cold(self, steps: Steps) -> dict[str, object]:
        """Ask what is cold: the first question has no segment at hand."""
        found = list[int]()
        seconds, shown = [self._one(found)], steps.start("recall cold", RECALLS)
        for _ in range(RECALLS):
            seconds.append(self._one(found))
            shown(1)
        return {
            "cold_first_ms": percentile_milliseconds(seconds[:1], 50),
            "cold_p50_ms": percentile_milliseconds(seconds[1:], 50),
            "cold_p95_ms": percentile_milliseconds(seconds[1:], 95),
            "cold_answered": round(mean(hits > 0 for hits in found), 4),
        }

    def _one(self, found: list[int] | None = None) -> float:
        question = self._questions[next(self._next) % len(self._questions)]
        started = time.perf_counter()
        answer = self._client.recall(question, namespace=self._namespace, no_cache=True, include_cold=found is not None)
        if found is not None:
            found.append(len(answer.hits))
        return time.perf_counter() - started


def swept(client: Client, namespace: str, steps: Steps | None = None) -> lifecycle_pb2.Operation:
    """Sweep a namespace and return the operation when it is done.

    Raises:
        RuntimeError: it failed, or took too long.
    """
    operation = client.run_sweep(namespace=namespace)
    deadline = time.monotonic() + PATIENCE_SECONDS
    show = steps.track("sweep", 1) if steps else None
    while not operation.done and time.monotonic() < deadline:
        time.sleep(0.1)
        operation = client.get_operation(operation.name)
    if operation.error or not operation.done:
        raise RuntimeError(f"the sweep did not end well: {operation.error or 'it still runs'}")
    if show:
        show(1)
    return operation


def _read(client: Client, namespace: str) -> dict[str, str]:
    return {memory.name: memory.content for memory in client.list_memories(namespace=namespace, page_size=500)}


def _rate(operation: lifecycle_pb2.Operation, name: str) -> float:
    counts: Mapping[str, int] = operation.counts
    seconds = operation.end_time.ToNanoseconds() - operation.start_time.ToNanoseconds()
    return round(counts.get(name, 0) / (seconds / 1e9), 1) if seconds else 0.0
