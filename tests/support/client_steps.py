"""Steps that tests through the public client share: wait, pause a service, expect a refusal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TypeVar

import psutil
import pytest

from rearview.client import Client
from rearview.domain.errors import InvalidFields, NotFound, RearviewError
from rearview.evaluation.ingest import wait_until_indexed
from rearview.v1 import event_pb2, memory_pb2, recall_pb2
from tests.support.supervised_stack import SupervisedStack

T = TypeVar("T")

WAIT_SECONDS = 90.0
POLL_SECONDS = 0.1


def eventually(read: Callable[[], T], holds: Callable[[T], bool], what: str) -> T:
    """Return what was read as soon as it holds; fail when it does not within the wait."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds(value := read()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}; last: {value}")
        time.sleep(POLL_SECONDS)
    return value


def indexed(client: Client, namespace: str | None = None) -> None:
    """Return when every event of the namespace, the client's own unless named, was indexed or dropped."""
    wait_until_indexed(client, namespace or namespace_of(client), lambda _: None)


def namespace_of(client: Client) -> str:
    """Return the id of the client's default namespace."""
    return client.get_namespace().name.removeprefix("namespaces/")


def whole(recall: Callable[[], recall_pb2.RecallResponse]) -> recall_pb2.RecallResponse:
    """Return a recall's answer that nothing is missing of; a busy machine may be too late with a vector."""
    return eventually(recall, lambda answer: not answer.degraded, "an answer that is whole")


def out_of_the_cache(recall: Callable[[], recall_pb2.RecallResponse]) -> recall_pb2.RecallResponse:
    """Return a recall's answer as the cache gives it again; one that something was missing of is not kept there."""
    return eventually(recall, lambda answer: answer.cache.hit, "the answer out of the cache")


def stored_trace(client: Client, name: str) -> recall_pb2.RecallTrace:
    """Return a recall's trace, which is written after the answer."""

    def read() -> recall_pb2.RecallTrace | None:
        with suppress(NotFound):
            return client.get_recall_trace(name)
        return None

    trace = eventually(read, lambda found: found is not None, f"the trace {name}")
    assert trace is not None
    return trace


@contextmanager
def paused(stack: SupervisedStack, service: str) -> Iterator[None]:
    """Stop a service's process and its children for as long as the block lasts: they neither answer nor close."""
    parent = psutil.Process(stack.child_pids()[service])
    family = [parent, *parent.children(recursive=True)]
    with ExitStack() as resumed:
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
                resumed.callback(_resume, process)
        yield


def _resume(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.resume()


@contextmanager
def refused(kind: type[RearviewError], *fields: str) -> Iterator[pytest.ExceptionInfo[RearviewError]]:
    """Expect exactly this error, and that it names these fields."""
    with pytest.raises(RearviewError) as caught:
        yield caught
    assert type(caught.value) is kind, f"{type(caught.value).__name__}: {caught.value}"
    if fields:
        assert isinstance(caught.value, InvalidFields)
        assert {violation.field for violation in caught.value.violations} == set(fields)


def text_of(hit: recall_pb2.RecallHit) -> str:
    """Return what a hit says."""
    return hit.highlights[0].text if hit.highlights else hit.memory.content


def texts_of(answer: recall_pb2.RecallResponse) -> list[str]:
    """Return what each hit says, best first."""
    return [text_of(hit) for hit in answer.hits]


def names_of(events: Sequence[event_pb2.Event]) -> list[str]:
    """Return the events' names."""
    return [event.name for event in events]


def apart_from_use(memory: memory_pb2.Memory) -> memory_pb2.Memory:
    """Return the memory without its access count and time, which come a while after it was used."""
    rest = memory_pb2.Memory()
    rest.CopyFrom(memory)
    rest.ClearField("access_count")
    rest.ClearField("last_access_time")
    return rest
