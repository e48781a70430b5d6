"""What a reading model may take: calls, tokens, attempts, places."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from rearview.adapters.llm.call_budget import CallBudget
from rearview.adapters.llm.circuit_breaker import CircuitBreaker
from rearview.adapters.llm.settings import BudgetLimits, LlmSettings
from rearview.adapters.llm.waiting_room import WaitingRoom
from rearview.domain.embedding_errors import InvalidModelInput
from rearview.domain.extraction_errors import ExtractionFailure, ExtractorUnavailable
from tests.support.turns import OTHER_TENANT, TENANT


class SetClock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 2, 23, 59, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def seconds(self) -> float:
        return self.moment.timestamp()

    def pass_seconds(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


def refused(budget: CallBudget, tokens: int = 1) -> ExtractorUnavailable:
    with pytest.raises(ExtractorUnavailable) as failed:
        budget.spend(TENANT, tokens)
    assert failed.value.failure is ExtractionFailure.BUDGET_EXHAUSTED
    return failed.value


def test_calls_of_a_minute_and_of_a_day() -> None:
    clock = SetClock()
    budget = CallBudget(BudgetLimits(calls_per_minute=2, calls_per_day=3), BudgetLimits(), clock)
    budget.spend(TENANT, 1)
    budget.spend(OTHER_TENANT, 1)
    assert refused(budget).retry_after_seconds == 30
    clock.pass_seconds(30)  # a new minute, and a new day
    budget.spend(TENANT, 1)
    clock.pass_seconds(60)
    budget.spend(TENANT, 1)
    clock.pass_seconds(60)
    budget.spend(TENANT, 1)
    assert refused(budget).retry_after_seconds == 86_400 - 120


def test_a_tenant_spends_its_own_budget_only() -> None:
    budget = CallBudget(BudgetLimits(), BudgetLimits(calls_per_minute=1), SetClock())
    budget.spend(TENANT, 1)
    assert "tenant" in str(refused(budget))
    budget.spend(OTHER_TENANT, 1)


def test_tokens_are_set_aside_and_corrected() -> None:
    clock = SetClock()
    budget = CallBudget(BudgetLimits(tokens_per_minute=100), BudgetLimits(tokens_per_day=150), clock)
    spending = budget.spend(TENANT, 80)
    refused(budget, 30)
    budget.settle(spending, 10)
    late = budget.spend(TENANT, 90)
    clock.pass_seconds(60)
    budget.settle(late, 0)  # its windows are over: nothing to correct
    budget.spend(TENANT, 100)
    refused(budget)


def test_breaker_opens_after_failures_in_a_row_and_tries_once() -> None:
    clock = SetClock()
    breaker = CircuitBreaker(2, 30.0, clock.seconds)
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    breaker.check()
    breaker.failed()
    with pytest.raises(ExtractorUnavailable) as refused:
        breaker.check()
    assert refused.value.retry_after_seconds == 30
    clock.pass_seconds(30)
    with breaker.attempt():
        with pytest.raises(ExtractorUnavailable):
            breaker.check()  # one attempt decides
        breaker.failed()
    assert breaker.is_open
    clock.pass_seconds(30)
    with pytest.raises(RuntimeError), breaker.attempt():
        raise RuntimeError  # an attempt that was given up decides nothing
    with breaker.attempt():
        breaker.succeeded()
    assert not breaker.is_open


async def test_a_bounded_number_waits() -> None:
    room = WaitingRoom(1, 1)
    inside, leave = asyncio.Event(), asyncio.Event()

    async def stay() -> None:
        async with room.place():
            inside.set()
            await leave.wait()

    async with asyncio.TaskGroup() as group:
        group.create_task(stay())
        await inside.wait()
        waiting = group.create_task(stay())
        await asyncio.sleep(0)
        with pytest.raises(ExtractorUnavailable, match="queue_full"):
            async with room.place():
                pass
        waiting.cancel()
        await asyncio.sleep(0)
        group.create_task(stay())  # the place in the queue was given back
        leave.set()
    async with room.place():
        pass


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "ftp://models"),
        ("url", "http://user:password@models/v1"),
        ("model", ""),
        ("api_key", "two words"),
        ("attempts", 0),
        ("attempt_seconds", float("nan")),
        ("total_seconds", 1.0),
        ("longest_pause_seconds", -1.0),
        ("process_budget", BudgetLimits(calls_per_day=0)),
        ("tenant_budget", BudgetLimits(tokens_per_minute=10)),
    ],
)
def test_bad_settings_are_named(field: str, value: object) -> None:
    settings: dict[str, object] = {"url": "http://models/v1/chat/completions", "model": "reader", field: value}
    with pytest.raises(InvalidModelInput, match=field) as failed:
        LlmSettings(**settings)  # type: ignore[arg-type]
    assert "password@" not in str(failed.value)


def test_the_key_is_not_shown() -> None:
    settings = LlmSettings("http://models/v1/chat/completions", "reader", api_key="sk-very-secret-7f3a")
    assert "7f3a" not in repr(settings)
