"""Steps about how long memories last and where they are kept: tiers, expiry, holds, receipts, erasure, models."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from rearview.domain.errors import DeadlineExceeded
from rearview.evaluation.bench_tiers import AT_ONCE, NEVER, swept
from rearview.evaluation.ingest import PATIENCE_SECONDS, POLL_SECONDS
from rearview.evaluation.scenarios.answer import Answer, of_memories, of_receipt, of_texts
from rearview.evaluation.scenarios.place import Place
from rearview.v1 import forget_pb2, lifecycle_pb2


def _move(tier: str, place: Place) -> Answer:
    """Move what the namespace holds down to a tier, by its policy and sweeps; the results count what moved."""
    cold_after = AT_ONCE if tier == "cold" else NEVER
    place.client.update_namespace_policy(namespace=place.namespace, warm_after=AT_ONCE, cold_after=cold_after)
    time.sleep(AT_ONCE.total_seconds())
    return _of_operation(swept(place.client, place.namespace))


def _rehydrate(memories: list[str], place: Place) -> Answer:
    operation = place.client.rehydrate([place.stage.memory(name) for name in memories])
    return _of_operation(_waited(lambda: place.client.get_operation(operation.name), lambda found: found.done))


def _expire(memory: str, place: Place) -> Answer:
    """Have a memory end in a moment, and wait until it has."""
    end = datetime.now(UTC) + AT_ONCE
    changed = place.client.update_memory(place.stage.memory(memory), {"expire_time": end})
    time.sleep(max(0.0, (end - datetime.now(UTC)).total_seconds()) + 0.1)
    return of_memories([changed])


def _hold(memory: str, place: Place) -> Answer:
    place.client.set_legal_hold(place.stage.memory(memory), held=True, reason="a scenario holds it")
    return Answer()


def _release(memory: str, place: Place) -> Answer:
    place.client.set_legal_hold(place.stage.memory(memory), held=False, reason="a scenario lets it go")
    return Answer()


def _receipt(name: str, place: Place) -> Answer:
    """Wait until a forget is verified: everything is erased, and a search of every place found nothing."""
    receipt = place.stage.receipt(name)
    verified = forget_pb2.FORGET_STATE_VERIFIED
    return of_receipt(_waited(lambda: place.client.get_forget_receipt(receipt), lambda found: found.state == verified))


def _delete_namespace(namespace: str, place: Place) -> Answer:
    place.client.delete_namespace(place.stage.namespace(namespace), force=True)
    return Answer()


def _reembed(model: str, place: Place) -> Answer:
    operation = place.client.start_reembedding(model)
    return _of_operation(_waited(lambda: place.client.get_operation(operation.name), lambda found: found.done))


def _of_operation(operation: lifecycle_pb2.Operation) -> Answer:
    counts = [f"{name}={count}" for name, count in sorted(operation.counts.items())]
    return of_texts([*counts, operation.error] if operation.error else counts)


def _waited(read: Callable[[], Any], ended: Callable[[Any], bool]) -> Any:
    until = time.monotonic() + PATIENCE_SECONDS
    while not ended(found := read()):
        if time.monotonic() > until:
            raise DeadlineExceeded(f"it has not ended for {PATIENCE_SECONDS:.0f} s", stage="scenario")
        time.sleep(POLL_SECONDS)
    return found


TIER_STEPS: dict[str, Callable[[Any, Place], Answer]] = {
    "move": _move,
    "rehydrate": _rehydrate,
    "expire": _expire,
    "hold": _hold,
    "release": _release,
    "receipt": _receipt,
    "delete_namespace": _delete_namespace,
    "reembed": _reembed,
}
