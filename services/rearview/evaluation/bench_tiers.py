"""`rearview bench tiers`: how fast memories move between tiers, and whether all of them arrive."""

import time
from collections.abc import Mapping
from datetime import timedelta

from rearview.client import Client
from rearview.evaluation.bench_load import Timed, run_clients, timed
from rearview.evaluation.ingest import fresh_namespace
from rearview.evaluation.progress import Steps
from rearview.v1 import lifecycle_pb2

AT_ONCE = timedelta(seconds=1)
NEVER = timedelta(days=36_500)
PATIENCE_SECONDS = 3_600.0
_TEXTS = (
    "第{n}号档案：{n}号仓库的备用钥匙放在第{n}格抽屉里。",
    "Record {n}: the contract REF-{n} for room {n} ends in {n} days.",
)


def bench_tiers(client: Client, memories: int, clients: int, steps: Steps) -> dict[str, object]:
    """Remember texts, sweep them to the warm and then to the cold tier, read them again; return the figures."""
    namespace = fresh_namespace(client, "bench")
    client.update_namespace_policy(namespace=namespace, warm_after=AT_ONCE, cold_after=NEVER)
    swept(client, namespace)  # or the lifecycle's own round might come in between
    texts = {f"{_TEXTS[n % 2].format(n=n)}" for n in range(1_000, 1_000 + memories)}
    stored: dict[str, str] = {}

    def remember(text: str) -> Timed:
        def run() -> None:
            stored[client.remember(text, namespace=namespace).memory.name] = text

        return lambda: timed(run)

    run_clients(map(remember, sorted(texts)), clients, steps.start("remember", memories))
    time.sleep(AT_ONCE.total_seconds())
    warm = swept(client, namespace, steps)
    client.update_namespace_policy(namespace=namespace, cold_after=AT_ONCE)
    cold = swept(client, namespace, steps)
    listed = {memory.name: memory.content for memory in client.list_memories(namespace=namespace, page_size=500)}
    lost = sum(listed.get(name) != text for name, text in stored.items()) + len(listed.keys() - stored.keys())
    return {
        "hot_to_warm_per_s": _rate(warm, "hot_to_warm"),
        "warm_to_cold_per_s": _rate(cold, "warm_to_cold"),
        "lost": lost,
    }


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


def _rate(operation: lifecycle_pb2.Operation, name: str) -> float:
    counts: Mapping[str, int] = operation.counts
    seconds = operation.end_time.ToNanoseconds() - operation.start_time.ToNanoseconds()
    return round(counts.get(name, 0) / (seconds / 1e9), 1) if seconds else 0.0
