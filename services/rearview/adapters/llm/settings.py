"""Which model reads turns, and how much of its time, money and memory it may take."""

from dataclasses import dataclass, field, fields
from typing import Literal

from rearview.adapters.models.endpoint import check_endpoint
from rearview.domain.embedding_errors import InvalidModelInput


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """What may be spent in a minute and in a day (UTC); None is without limit. Every attempt counts as a call."""

    calls_per_minute: int | None = None
    calls_per_day: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """An OpenAI-compatible endpoint and the bounds of its use.

    Attributes:
        url: the endpoint itself, for example `https://models.internal/v1/chat/completions`.
        model: the model's name at the endpoint.
        api_key: sent as a bearer token; never shown.
        attempt_seconds: bound of one attempt.
        total_seconds: bound of one reading: waiting, attempts and pauses together.
        attempts: tries of one reading; an answer that makes no sense is tried again once only.
        first_pause_seconds: bound of the pause before the second try; doubles, with jitter.
        longest_pause_seconds: bound of a pause. An endpoint that asks for a longer one is left alone so long.
        max_turns: turns of one reading.
        max_turn_characters: longer turns are left to the rules.
        max_request_characters: bound of the turns' texts together, earlier ones included.
        max_output_tokens: bound of an answer; a truncated one is tried again with twice that.
        max_answer_bytes: an answer longer than that is not read to its end.
        max_facts_per_turn: what a model reads beyond that is dropped.
        max_concurrent_requests: requests on their way at once.
        max_waiting_requests: readings that wait for a place; beyond that they fail at once.
        process_budget: what this process may spend.
        tenant_budget: what this process may spend for one tenant.
        breaker_failures: failed attempts in a row after which the endpoint is left alone.
        breaker_seconds: for how long it is left alone, before one request tries it again.
        temperature: None where the model takes none.
        output_limit_field: what the endpoint calls the bound of an answer.
    """

    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    attempt_seconds: float = 30.0
    total_seconds: float = 60.0
    attempts: int = 3
    first_pause_seconds: float = 0.5
    longest_pause_seconds: float = 10.0
    max_turns: int = 16
    max_turn_characters: int = 4_000
    max_request_characters: int = 16_000
    max_output_tokens: int = 4_096
    max_answer_bytes: int = 1_048_576
    max_facts_per_turn: int = 12
    max_concurrent_requests: int = 4
    max_waiting_requests: int = 32
    process_budget: BudgetLimits = BudgetLimits(calls_per_minute=120, calls_per_day=20_000, tokens_per_day=20_000_000)
    tenant_budget: BudgetLimits = BudgetLimits()
    breaker_failures: int = 5
    breaker_seconds: float = 30.0
    temperature: float | None = 0.0
    output_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"

    def __post_init__(self) -> None:
        check_endpoint(self.url, self.model, self.api_key)
        for name in _POSITIVE:
            if not getattr(self, name) > 0:
                raise InvalidModelInput(name, "must be positive")
        for name in _NOT_NEGATIVE:
            if not getattr(self, name) >= 0:
                raise InvalidModelInput(name, "must not be negative")
        if self.total_seconds < self.attempt_seconds:
            raise InvalidModelInput("total_seconds", "must not be less than attempt_seconds")
        for name in ("process_budget", "tenant_budget"):
            self._check_budget(name, getattr(self, name))

    def _check_budget(self, name: str, limits: BudgetLimits) -> None:
        for limit in fields(limits):
            value = getattr(limits, limit.name)
            least = self.max_output_tokens if limit.name.startswith("tokens") else 1
            if value is not None and value < least:
                raise InvalidModelInput(f"{name}.{limit.name}", f"must be at least {least}, or None")


_POSITIVE = (
    "attempt_seconds",
    "total_seconds",
    "attempts",
    "max_turns",
    "max_turn_characters",
    "max_request_characters",
    "max_output_tokens",
    "max_answer_bytes",
    "max_facts_per_turn",
    "max_concurrent_requests",
    "breaker_failures",
    "breaker_seconds",
)
_NOT_NEGATIVE = ("first_pause_seconds", "longest_pause_seconds", "max_waiting_requests")
