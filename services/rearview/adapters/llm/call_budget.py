"""What may be spent on a model: calls and tokens, a minute and a day, by the process and by each tenant.

Windows are those of the clock (a minute, a day in UTC), so that around their border twice a limit can pass. Counts are
this process's own: with several replicas, a limit is each one's.
"""

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from rearview.adapters.llm.settings import BudgetLimits
from rearview.domain.extraction_errors import ExtractionFailure, ExtractorUnavailable
from rearview.ports.clock import Clock

_MINUTE_SECONDS, _DAY_SECONDS = 60, 86_400
MAX_TENANTS = 100_000
"""Tenants counted in one window; the budget of any further one counts as used up."""

_Spender = UUID | None
"""None is the process."""


@dataclass(slots=True)
class _Window:
    length_seconds: int
    number: int = 0
    calls: Counter[_Spender] = field(default_factory=Counter)
    tokens: Counter[_Spender] = field(default_factory=Counter)

    def turn_to(self, now_seconds: float) -> None:
        number = int(now_seconds // self.length_seconds)
        if number != self.number:
            self.number = number
            self.calls.clear()
            self.tokens.clear()


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens set aside for one call; `minute` and `day` number the windows they are counted in."""

    tenant_id: UUID
    tokens: int
    minute: int
    day: int


class CallBudget:
    """Counts before a call is made, with the most it can cost, and corrects the count after."""

    def __init__(self, process: BudgetLimits, tenant: BudgetLimits, clock: Clock) -> None:
        self._limits = process, tenant
        self._clock = clock
        self._minute = _Window(_MINUTE_SECONDS)
        self._day = _Window(_DAY_SECONDS)

    def spend(self, tenant_id: UUID, tokens: int) -> Spending:
        """Set one call and its tokens aside.

        Raises:
            ExtractorUnavailable: a limit would be passed; nothing was set aside. Says when its window ends.
        """
        now = self._clock.now().timestamp()
        for window in (self._minute, self._day):
            window.turn_to(now)
        for spender, limits in zip((None, tenant_id), self._limits, strict=True):
            self._check(spender, limits, tokens, now)
        for window in (self._minute, self._day):
            for key in (None, tenant_id):
                window.calls[key] += 1
                window.tokens[key] += tokens
        return Spending(tenant_id, tokens, self._minute.number, self._day.number)

    def settle(self, spending: Spending, tokens: int) -> None:
        """Replace the tokens set aside by those that were used."""
        for window, number in ((self._minute, spending.minute), (self._day, spending.day)):
            if window.number == number:
                for key in (None, spending.tenant_id):
                    window.tokens[key] += tokens - spending.tokens

    def _check(self, spender: _Spender, limits: BudgetLimits, tokens: int, now: float) -> None:
        for window, calls, most_tokens in (
            (self._minute, limits.calls_per_minute, limits.tokens_per_minute),
            (self._day, limits.calls_per_day, limits.tokens_per_day),
        ):
            crowded = spender not in window.calls and len(window.calls) > MAX_TENANTS
            if (
                crowded
                or (calls is not None and window.calls[spender] >= calls)
                or (most_tokens is not None and window.tokens[spender] + tokens > most_tokens)
            ):
                whose = "process" if spender is None else "tenant"
                raise ExtractorUnavailable(
                    ExtractionFailure.BUDGET_EXHAUSTED,
                    f"of the {whose}",
                    retry_after_seconds=window.length_seconds - now % window.length_seconds,
                )
