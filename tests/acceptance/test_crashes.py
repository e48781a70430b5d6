"""Processes that die without a word: what was acknowledged is there once, and everything goes on by itself."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psutil
import psycopg
import pytest

from rearview.client import Client, Turn
from rearview.domain.errors import DeadlineExceeded, RearviewError, Unavailable
from rearview.domain.recall import Route
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.stack_status import ProcessState
from rearview.v1 import event_pb2, memory_pb2
from rearview.v1 import memory_service_pb2 as messages
from tests.support.client_steps import eventually, indexed, namespace_of, paused, text_of
from tests.support.supervised_stack import SupervisedStack
from tests.support.wire import Wire, bearer, wire_to

SERVICES = ("gateway", "writer", "worker", "retriever", "lifecycle")
TURNS_AROUND_A_CRASH = 8
CALLERS = 4
# The whole size of a real backlog with REARVIEW_TEST_PROFILE=thorough.
QUEUED_TURNS, QUEUED_SESSIONS = (10_000, 20) if os.environ.get("REARVIEW_TEST_PROFILE") == "thorough" else (120, 4)
MOST_GROWTH_BYTES = 256 * 1024**2
"""By so much a process may grow between its first batches and the end of the queue, however long that is."""

PLACES = ("松江", "Lisbon", "龙井路", "Mill Lane", "张江", "Porto", "青岛", "Kyoto", "敦煌", "Tartu")


@pytest.fixture
def everyday(endpoints: Endpoints, client: Client) -> Iterator[Client]:
    """A client as people open it, with default deadlines and retries, in a fresh namespace."""
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    namespace = client.get_namespace().name.removeprefix("namespaces/")
    with Client.connect(endpoints.gateway, endpoints.admin_key, namespace=namespace) as everyday:
        yield everyday


class Appends:
    """A stream of appends from a thread, each turn once, until it is stopped."""

    def __init__(self, client: Client, session: str) -> None:
        self._client = client
        self._session = session
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.acknowledged: list[str] = []
        self.failed: dict[str, RearviewError] = {}

    def __enter__(self) -> Appends:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def wait_for_more(self, count: int) -> None:
        """Return when so many more turns have been acknowledged."""
        wanted = len(self.acknowledged) + count
        eventually(lambda: len(self.acknowledged), lambda found: found >= wanted, f"{wanted} acknowledgements")

    def _run(self) -> None:
        number = 0
        while not self._stopped.is_set():
            text = f"第{number}趟车 truck {number:04d} 开往{PLACES[number % len(PLACES)]}，cargo {number * 37} boxes."
            try:
                self._client.append_events(self._session, [Turn("user", text)])
            except RearviewError as error:
                self.failed[text] = error
            else:
                self.acknowledged.append(text)
            number += 1
            time.sleep(0.02)


def kill(stack: SupervisedStack, name: str) -> int:
    """Kill a process of the stack; return its pid."""
    pid = stack.child_pids()[name]
    os.kill(pid, signal.SIGKILL)
    return pid


def memory_bytes(stack: SupervisedStack, name: str) -> int:
    """Return how much memory a process of the stack takes."""
    return int(psutil.Process(stack.child_pids()[name]).memory_info().rss)


def assert_nothing_was_lost_or_doubled(client: Client, session: str, appends: Appends) -> list[event_pb2.Event]:
    events = list(client.list_events(session, page_size=1000))
    stored = Counter(event.content for event in events)
    assert [text for text in appends.acknowledged if stored[text] != 1] == []
    assert [text for text in appends.failed if stored[text] > 1] == []
    assert set(stored) <= {*appends.acknowledged, *appends.failed}
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    return events


def assert_each_turn_is_in_one_memory_at_most(client: Client, events: list[event_pb2.Event]) -> None:
    """Where a long segment was split, the turn at its end opens the next one, too."""
    memories = [m for m in client.list_memories(page_size=1000) if m.type != memory_pb2.MEMORY_TYPE_FACT]
    opening = {memory.events[0] for memory in memories}
    held = Counter(
        name for memory in memories for name in (memory.events[:-1] if memory.events[-1] in opening else memory.events)
    ) + Counter(memory.events[0] for memory in memories if len(memory.events) == 1)
    assert held
    assert [name for name, count in held.items() if count > 1] == []
    for event in events:
        outcome = client.capture_trace(event.name).outcome
        assert outcome in (event_pb2.CAPTURE_OUTCOME_KEPT, event_pb2.CAPTURE_OUTCOME_DROPPED)
        assert held[event.name] == (outcome == event_pb2.CAPTURE_OUTCOME_KEPT)


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_killed_during_a_stream_of_appends(stack: SupervisedStack, everyday: Client, service: str) -> None:
    with Appends(everyday, "trucks") as appends:
        appends.wait_for_more(TURNS_AROUND_A_CRASH)
        pid = kill(stack, service)
        stack.wait_until_replaced(service, pid)
        appends.wait_for_more(TURNS_AROUND_A_CRASH)
    assert all(isinstance(error, Unavailable | DeadlineExceeded) for error in appends.failed.values()), appends.failed
    events = assert_nothing_was_lost_or_doubled(everyday, "trucks", appends)
    everyday.end_session("trucks")
    indexed(everyday)
    assert_each_turn_is_in_one_memory_at_most(everyday, events)
    last = appends.acknowledged[-1]
    number = last.split("truck ")[1][:4]
    assert text_of(everyday.recall(f"truck {number} 去哪里？").hits[0]) == last


def test_a_long_queue_takes_no_memory_and_loses_and_repeats_nothing_over_a_restart(
    stack: SupervisedStack, everyday: Client
) -> None:
    sessions = [f"queue-{number}" for number in range(QUEUED_SESSIONS)]
    share = QUEUED_TURNS // QUEUED_SESSIONS
    said = {
        session: [
            f"{PLACES[number % len(PLACES)]}的第{at * share + number}号仓库 holds {at * share + number} crates of tea."
            for number in range(share)
        ]
        for at, session in enumerate(sessions)
    }
    for first in range(0, share, 100):
        for session in sessions:
            everyday.append_events(session, [Turn("user", text) for text in said[session][first : first + 100]])

    def indexed_count() -> int:
        return sum(session.indexed_event_count for session in everyday.list_sessions())

    eventually(indexed_count, lambda count: count > 0, "the first batch")
    pid = kill(stack, "worker")
    stack.wait_until_replaced("worker", pid)
    on = min(indexed_count() + 1, QUEUED_TURNS)
    eventually(indexed_count, lambda count: count >= on, "the queue to go on")
    early = memory_bytes(stack, "worker")
    for session in sessions:
        everyday.end_session(session)
    indexed(everyday)
    assert memory_bytes(stack, "worker") - early < MOST_GROWTH_BYTES

    events = [event for session in sessions for event in everyday.list_events(session, page_size=1000)]
    assert Counter(event.content for event in events) == Counter(text for texts in said.values() for text in texts)
    assert_each_turn_is_in_one_memory_at_most(everyday, events)
    assert "第77号仓库" in text_of(everyday.recall("第77号仓库里有什么？").hits[0])


def test_without_working_memory_writes_and_recalls_go_on(stack: SupervisedStack, everyday: Client) -> None:
    everyday.append_events("now", [Turn("user", "备用轮胎在地下室。")])
    with paused(stack, "valkey"):
        everyday.append_events("now", [Turn("user", "The jack is under the driver's seat.")])
        answer = everyday.recall("jack 在哪里？", session="now")
        assert "driver's seat" in text_of(answer.hits[0])
        assert everyday.remember("千斤顶要换新的。").memory.name
        assert said_lately(everyday, "now") == ["备用轮胎在地下室。", "The jack is under the driver's seat."]
    eventually(
        lambda: list(everyday.recall("备用轮胎", session="now").degraded), lambda parts: parts == [], "Valkey's return"
    )


def test_a_turn_of_a_moment_ago_is_found_whatever_its_words_after_valkey_was_down(
    stack: SupervisedStack, everyday: Client
) -> None:
    everyday.append_events("now", [Turn("user", "那就周五见吧。")])
    pid = kill(stack, "valkey")
    everyday.append_events("now", [Turn("user", "At the usual place, half past seven.")])
    stack.wait_until_replaced("valkey", pid)
    everyday.append_events("now", [Turn("assistant", "好的，noted。")])
    texts = ["那就周五见吧。", "At the usual place, half past seven.", "好的，noted。"]
    assert said_lately(everyday, "now") == texts
    others = [route for route in Route if route is not Route.WORKING_MEMORY]
    for question in ("what did we agree on?", "刚才说了什么？"):
        answer = everyday.recall(question, session="now", disabled_routes=others)
        assert sorted(map(text_of, answer.hits)) == sorted(texts)


def said_lately(client: Client, session: str) -> list[str]:
    return [turn.event.content for turn in client.working_memory(session).turns]


def test_valkey_is_killed_during_a_stream_of_appends(stack: SupervisedStack, everyday: Client) -> None:
    with Appends(everyday, "trucks") as appends:
        appends.wait_for_more(TURNS_AROUND_A_CRASH)
        pid = kill(stack, "valkey")
        appends.wait_for_more(TURNS_AROUND_A_CRASH)
        stack.wait_until_replaced("valkey", pid)
        appended = len(appends.acknowledged)
        eventually(
            lambda: said_lately(everyday, "trucks"),
            lambda texts: texts[-1] in appends.acknowledged[appended:],
            "working memory to hold new turns",
        )
    assert appends.failed == {}
    assert_nothing_was_lost_or_doubled(everyday, "trucks", appends)


def waiting_for_locks(connection: psycopg.Connection[Any]) -> int:
    rows = connection.execute("SELECT count(*) FROM pg_locks WHERE relation = 'session'::regclass AND NOT granted")
    return int(rows.fetchall()[0][0])


def test_postgresql_is_killed(stack: SupervisedStack, endpoints: Endpoints, everyday: Client) -> None:
    everyday.append_events("s", [Turn("user", "数据库重启之前说的话。")])
    parent = f"namespaces/{namespace_of(everyday)}"
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    with wire_to(endpoints.gateway, bearer(endpoints.admin_key)) as wire, Calls(wire, parent) as calls:
        eventually(lambda: calls.succeeded, lambda count: count > 0, "a first answer")
        # A restart is quick, and who asks meanwhile may only wait longer: so all are held up in the database.
        with closing(psycopg.connect(endpoints.postgres_owner_url)) as holder:
            holder.execute("LOCK TABLE session IN ACCESS EXCLUSIVE MODE")
            eventually(lambda: waiting_for_locks(holder), lambda count: count >= CALLERS, "callers to be held up")
            pid = kill(stack, "postgres")
        stack.wait_until_replaced("postgres", pid)
        before = calls.succeeded
        eventually(lambda: calls.succeeded, lambda count: count > before + CALLERS, "answers after the return")
    # Who was waiting hears that, long before the deadline, and which part it is.
    assert calls.failures
    assert all(isinstance(failure, Unavailable) for failure in calls.failures), calls.failures
    assert {failure.metadata["dependency"] for failure in calls.failures} == {"postgresql"}
    eventually(
        lambda: {name: stack.process(name).state for name in SERVICES},
        lambda states: set(states.values()) == {ProcessState.READY},
        "all services to be ready",
    )
    everyday.append_events("s", [Turn("user", "数据库重启之后说的话。")])
    indexed(everyday)
    assert len(list(everyday.list_events("s"))) == 2
    texts = [text_of(hit) for hit in everyday.recall("数据库重启", top_k=10).hits]
    assert {"数据库重启之前说的话。", "数据库重启之后说的话。"} <= set(texts)


def test_postgresql_hangs(stack: SupervisedStack, everyday: Client) -> None:
    memory = everyday.remember("备用钥匙在邻居那里。").memory.name
    everyday.append_events("s", [Turn("user", "数据库停顿之前说的话。")])
    hurried = everyday.with_options(timeout_seconds=1)
    calls: list[Callable[[], object]] = [
        lambda: hurried.append_events("s", [Turn("user", "Said while it hangs.")]),
        lambda: hurried.recall("钥匙在哪里？", session="s"),
        lambda: hurried.working_memory("s"),
        lambda: hurried.get_memory(memory),
    ]
    with Appends(hurried, "trucks") as appends:
        appends.wait_for_more(1)
        with paused(stack, "postgres"):
            for ask in calls * 3:
                started = time.monotonic()
                with pytest.raises((Unavailable, DeadlineExceeded)):
                    ask()
                assert time.monotonic() - started < 3.0
        resumed_at = time.monotonic()
        appends.wait_for_more(TURNS_AROUND_A_CRASH)
        assert time.monotonic() - resumed_at < 20.0
    assert all(isinstance(error, Unavailable | DeadlineExceeded) for error in appends.failed.values()), appends.failed
    assert_nothing_was_lost_or_doubled(everyday, "trucks", appends)
    assert everyday.get_memory(memory).content == "备用钥匙在邻居那里。"


class Calls:
    """Calls one after the other from several threads, without retries, until they are stopped."""

    def __init__(self, wire: Wire, parent: str) -> None:
        self._wire = wire
        self._parent = parent
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(CALLERS)]
        self.succeeded = 0
        self.failures: list[RearviewError] = []

    def __enter__(self) -> Calls:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        request = messages.ListSessionsRequest(parent=self._parent)
        while not self._stopped.is_set():
            try:
                self._wire.call("rearview.v1.MemoryService/ListSessions", request, messages.ListSessionsResponse)
            except RearviewError as error:
                self.failures.append(error)
            else:
                self.succeeded += 1
