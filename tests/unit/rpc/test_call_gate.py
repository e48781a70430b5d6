"""Turns: bounded, fair between tenants, given up when nobody waits for them any more."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from random import Random

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.errors import DeadlineExceeded, Overloaded
from rearview.rpc.call_gate import CallGate, GateLimits, Shed
from rearview.rpc.channel import open_channel
from rearview.rpc.interceptors import ErrorInterceptor, LoadSheddingInterceptor
from rearview.telemetry.metrics import Metrics
from rearview.v1 import memory_service_pb2_grpc
from tests.support.grpc_server import running_server
from tests.support.waiting import wait_until
from tests.unit.rpc.obedient_servicer import failure, get, new_servicer, register

LONG_SECONDS = 600.0


class Calls:
    """Calls through a gate, each of which lasts until it is told to end."""

    def __init__(self, limits: GateLimits) -> None:
        self.shed: list[Shed] = []
        self.gate = CallGate("service", limits, self.shed.append)
        self.running: list[str] = []
        self._ends: list[asyncio.Event] = []

    def begin(self, party: str, left: float | None = None) -> asyncio.Task[None]:
        async def call() -> None:
            async with self.gate.turn(party, left):
                self.running.append(party)
                end = asyncio.Event()
                self._ends.append(end)
                await end.wait()

        return asyncio.create_task(call())

    async def end_one(self) -> None:
        self._ends.pop(0).set()
        await settled()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def tasks() -> Iterator[list[asyncio.Task[None]]]:
    made: list[asyncio.Task[None]] = []
    yield made
    for task in made:
        task.cancel()


async def test_a_tenant_that_floods_stands_in_its_own_way(tasks: list[asyncio.Task[None]]) -> None:
    calls = Calls(GateLimits(running=2, waiting=6, wait_seconds=LONG_SECONDS))
    tasks += [calls.begin("noisy") for _ in range(50)]
    await settled()
    assert calls.running == ["noisy", "noisy"]
    assert calls.shed == [Shed.QUEUE_FULL] * 42
    calm = [calls.begin("calm") for _ in range(3)]
    other = calls.begin("other")
    tasks += [*calm, other]
    await settled()
    assert not any(task.done() for task in (*calm, other)), "the newest of the noisy ones made room"
    assert len(calls.shed) == 46
    for _ in range(4):
        await calls.end_one()
    assert calls.running == ["noisy", "noisy", "calm", "noisy", "other", "calm"]


async def test_who_was_sent_away_hears_when_to_come_back(tasks: list[asyncio.Task[None]]) -> None:
    calls = Calls(GateLimits(running=1, waiting=0, wait_seconds=2.0))
    tasks.append(calls.begin("a"))
    await settled()
    with pytest.raises(Overloaded) as caught:
        await calls.begin("b")
    assert (caught.value.retry_after_seconds, caught.value.metadata) == (2.0, {"service": "service"})


async def test_waiting_ends_with_the_callers_patience_or_the_services(tasks: list[asyncio.Task[None]]) -> None:
    calls = Calls(GateLimits(running=1, waiting=9, wait_seconds=0.05))
    tasks.append(calls.begin("a"))
    await settled()
    with pytest.raises(Overloaded):
        await calls.begin("b", LONG_SECONDS)
    with pytest.raises(DeadlineExceeded):
        await calls.begin("b", 0.01)
    with pytest.raises(DeadlineExceeded):
        await calls.begin("b", 0.0)
    assert calls.shed == [Shed.WAITED, Shed.EXPIRED, Shed.EXPIRED]
    assert calls.gate.waiting == 0
    assert calls.running == ["a"], "no work was begun for those whose time is over"


@given(st.integers(1, 4), st.integers(0, 6), st.integers(0, 2**32))
def test_limits_hold_and_no_turn_is_lost_whatever_comes(running: int, waiting: int, seed: int) -> None:
    async def run() -> None:
        random, calls, begun = Random(seed), Calls(GateLimits(running, waiting, LONG_SECONDS)), []
        for _ in range(60):
            match random.choice("bbbce"):
                case "b":
                    begun.append(calls.begin(random.choice("xyz")))
                case "c" if begun:
                    random.choice(begun).cancel()
                case "e" if calls._ends:
                    calls._ends.pop(0).set()
            if random.random() < 0.5:
                await settled()
            assert calls.gate._running.total() <= running
            assert calls.gate.waiting <= waiting
        while any(not task.done() for task in begun):
            await settled()
            for end in calls._ends:
                end.set()
        assert not calls.gate._running, "no turn is held by nobody"
        assert (calls.gate.waiting, len(calls.gate._queues)) == (0, 0)
        for task in begun:
            with suppress(Overloaded, asyncio.CancelledError):
                await task

    asyncio.run(run())


async def test_a_full_service_sends_calls_away_and_still_answers_probes() -> None:
    metrics, servicer = Metrics("tester"), new_servicer()
    shedding = LoadSheddingInterceptor("tester", GateLimits(1, 0, 3.0), metrics, lambda _: "tenant")
    async with (
        running_server(register(servicer), [ErrorInterceptor(), shedding]) as (address, _),
        open_channel(address) as channel,
    ):
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        long = get(stub, "forever")
        await wait_until(lambda: shedding._calls._running.total() == 1, "the call to run")
        raw, error = await failure(get(stub, "x"))
        assert raw.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (type(error), error.retry_after_seconds) == (Overloaded, 3.0)
        assert metrics.registry.get_sample_value("rearview_tester_calls_shed_total", {"cause": "queue_full"}) == 1
        long.cancel()
        await wait_until(lambda: not shedding._calls._running, "its end")
        assert (await get(stub, "x")).name
