"""Reads turns by asking a language model, within bounds, and keeps what the text bears out."""

import asyncio
import random
import time
from collections.abc import Callable

import structlog

from rearview.adapters.llm.answer_formats import AcceptedFormat, AnswerFormat
from rearview.adapters.llm.answer_schema import answer_schema
from rearview.adapters.llm.attempt_failed import AttemptFailed, FormatRefused, Remedy
from rearview.adapters.llm.call_budget import CallBudget, Spending
from rearview.adapters.llm.chat_answer import ChatAnswer, written_json
from rearview.adapters.llm.chat_endpoint import ChatEndpoint
from rearview.adapters.llm.circuit_breaker import CircuitBreaker
from rearview.adapters.llm.counts import Counted, ExtractionCounts
from rearview.adapters.llm.grounding import Grounding
from rearview.adapters.llm.prompt import Prompt, build_prompt
from rearview.adapters.llm.settings import LlmSettings
from rearview.adapters.llm.waiting_room import WaitingRoom
from rearview.domain.embedding_errors import InvalidModelInput
from rearview.domain.extraction import Extraction, ExtractionRequest, Provenance
from rearview.domain.extraction_errors import ExtractionFailure, ExtractorUnavailable
from rearview.ports.clock import Clock
from rearview.ports.fact_grounds import FactGrounds

ANSWERED = "answered"
FORMAT_REFUSED = "format_refused"
_UNBILLED = frozenset({ExtractionFailure.RATE_LIMITED, ExtractionFailure.REQUEST_REJECTED})
_MOST_BROKEN_ANSWERS = 2
_log = structlog.get_logger(__name__)


class LlmFactSource:
    """A `FactSource` that knows the model only: it reads, or says that it cannot.

    `seconds` tells a time that only grows, for the circuit breaker.
    """

    def __init__(
        self,
        settings: LlmSettings,
        grounds: FactGrounds,
        clock: Clock,
        *,
        counts: ExtractionCounts | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._grounds = grounds
        self._schema = answer_schema(grounds.attributes)
        self._endpoint = ChatEndpoint(settings)
        self._budget = CallBudget(settings.process_budget, settings.tenant_budget, clock)
        self._breaker = CircuitBreaker(settings.breaker_failures, settings.breaker_seconds, seconds)
        self._room = WaitingRoom(settings.max_concurrent_requests, settings.max_waiting_requests)
        self._format = AcceptedFormat()
        self._counts = counts or ExtractionCounts()

    @property
    def counts(self) -> ExtractionCounts:
        """What became of readings, attempts and facts so far."""
        return self._counts

    async def read(self, request: ExtractionRequest) -> Extraction:
        """Return one reading for each turn; see `FactSource`.

        Raises:
            InvalidModelInput: there are more turns, or longer ones, than the settings allow.
            ExtractorUnavailable: there is no answer, or none that makes sense, within the bounds.
        """
        self._check(request)
        try:
            extraction = await self._within_bounds(request)
        except ExtractorUnavailable as failed:
            self._counts.add(Counted.READINGS, failed.failure)
            raise
        self._counts.add(Counted.READINGS, ANSWERED)
        self._counts.add(Counted.FACTS, "kept", extraction.fact_count)
        for reason, count in extraction.dropped.items():
            self._counts.add(Counted.DROPPED, reason, count)
        return extraction

    async def close(self) -> None:
        """Close the connections; later readings fail."""
        await self._endpoint.close()

    def _check(self, request: ExtractionRequest) -> None:
        settings = self._settings
        if len(request.turns) > settings.max_turns:
            raise InvalidModelInput("turns", f"at most {settings.max_turns} are read together")
        everything = (*request.turns, *request.earlier)
        if any(len(turn.text) > settings.max_turn_characters for turn in everything):
            raise InvalidModelInput("turns", f"may have {settings.max_turn_characters} characters each")
        if sum(len(turn.text) for turn in everything) > settings.max_request_characters:
            raise InvalidModelInput("turns", f"may have {settings.max_request_characters} characters together")

    async def _within_bounds(self, request: ExtractionRequest) -> Extraction:
        deadline = asyncio.get_running_loop().time() + self._settings.total_seconds
        # What cannot be asked now is told at once, and takes no place in the queue.
        self._check_open()
        try:
            async with asyncio.timeout_at(deadline), self._room.place():
                return await self._ask_until(request, deadline)
        except TimeoutError:
            raise ExtractorUnavailable(ExtractionFailure.TIMED_OUT, "in all") from None

    def _check_open(self) -> None:
        if self._endpoint.is_closed:
            raise ExtractorUnavailable(ExtractionFailure.CLOSED)
        self._breaker.check()

    async def _ask_until(self, request: ExtractionRequest, deadline: float) -> Extraction:
        """Return the first answer that makes sense; try again as long as that may help."""
        prompt = build_prompt(request, self._grounds.attributes)
        output_tokens = self._settings.max_output_tokens
        last: AttemptFailed | None = None
        broken_answers = 0
        for attempt in range(self._settings.attempts):
            if last is not None:
                await self._pause(last, attempt, deadline)
            try:
                return await self._attempt(request, prompt, output_tokens, deadline)
            except AttemptFailed as failed:
                last = failed
            except ExtractorUnavailable as refused:
                # The breaker opened or the budget ended under way: what made it so is the better answer.
                if last is None or refused.failure is ExtractionFailure.BUDGET_EXHAUSTED:
                    raise
                break
            broken_answers += last.remedy is Remedy.TRY_ONCE_MORE
            if last.remedy is Remedy.GIVE_UP or broken_answers >= _MOST_BROKEN_ANSWERS:
                break
            if last.truncated:
                output_tokens = 2 * self._settings.max_output_tokens
        if last is None:
            raise ExtractorUnavailable(ExtractionFailure.TIMED_OUT, "in all")
        raise ExtractorUnavailable(last.failure, last.detail, retry_after_seconds=last.pause_seconds) from None

    async def _pause(self, last: AttemptFailed, attempt: int, deadline: float) -> None:
        settings = self._settings
        bound = min(settings.first_pause_seconds * 2 ** (attempt - 1), settings.longest_pause_seconds)
        # Jitter keeps replicas that failed together from coming back together.
        pause = last.pause_seconds if last.pause_seconds is not None else random.uniform(0.0, bound)  # noqa: S311
        if asyncio.get_running_loop().time() + pause >= deadline:
            raise ExtractorUnavailable(last.failure, last.detail, retry_after_seconds=last.pause_seconds)
        await asyncio.sleep(pause)

    async def _attempt(
        self, request: ExtractionRequest, prompt: Prompt, output_tokens: int, deadline: float
    ) -> Extraction:
        with self._breaker.attempt():
            try:
                answer = await self._ask(request, prompt, output_tokens, deadline)
                provenance = Provenance(f"llm:{self._settings.model}", prompt.version)
                grounding = Grounding(
                    request, self._grounds, provenance, max_facts_per_turn=self._settings.max_facts_per_turn
                )
                extraction = grounding.read(written_json(answer.content))
            except AttemptFailed as failed:
                self._counts.add(Counted.ATTEMPTS, failed.failure)
                self._tell_breaker(failed)
                raise
            self._counts.add(Counted.ATTEMPTS, ANSWERED)
            self._breaker.succeeded()
            return extraction

    def _tell_breaker(self, failed: AttemptFailed) -> None:
        if failed.pause_seconds is not None and failed.pause_seconds > self._settings.longest_pause_seconds:
            # Nobody waits so long for one reading; the endpoint gets the rest it asked for, within reason.
            failed.remedy = Remedy.GIVE_UP
            self._open_breaker(min(failed.pause_seconds, 20 * self._settings.breaker_seconds), failed)
        elif failed.lasting:
            self._open_breaker(self._settings.breaker_seconds, failed)
        elif failed.blames:
            was_open = self._breaker.is_open
            self._breaker.failed()
            if self._breaker.is_open and not was_open:
                self._log_open(failed)

    def _open_breaker(self, seconds: float, failed: AttemptFailed) -> None:
        self._breaker.open(seconds)
        self._log_open(failed)

    def _log_open(self, failed: AttemptFailed) -> None:
        _log.error("the extraction model is left alone for a while", failure=str(failed.failure), detail=failed.detail)

    async def _ask(self, request: ExtractionRequest, prompt: Prompt, output_tokens: int, deadline: float) -> ChatAnswer:
        """Return the answer of one attempt, asked for in the strictest form that the endpoint takes."""
        form: AnswerFormat | None = self._format.current
        while form is not None:
            seconds = min(self._settings.attempt_seconds, deadline - asyncio.get_running_loop().time())
            if seconds <= 0:
                raise ExtractorUnavailable(ExtractionFailure.TIMED_OUT, "in all")
            spending = self._budget.spend(request.tenant_id, prompt.most_tokens + output_tokens)
            try:
                answer = await self._endpoint.ask(
                    prompt.messages,
                    response_format=form.option(self._schema),
                    max_output_tokens=output_tokens,
                    seconds=seconds,
                )
            except FormatRefused:
                self._counts.add(Counted.ATTEMPTS, FORMAT_REFUSED)
                self._budget.settle(spending, 0)
                form = form.looser
                continue
            except AttemptFailed as failed:
                if failed.failure in _UNBILLED:
                    self._budget.settle(spending, 0)
                if failed.failure is ExtractionFailure.TIMED_OUT and seconds < self._settings.attempt_seconds:
                    failed.blames = False  # it was not given its time
                raise
            self._format.accepted(form)
            self._settle(spending, prompt, answer)
            return answer
        raise AssertionError("the loosest form is never refused as a form")

    def _settle(self, spending: Spending, prompt: Prompt, answer: ChatAnswer) -> None:
        prompt_tokens = prompt.most_tokens if answer.prompt_tokens is None else answer.prompt_tokens
        completion_tokens = len(answer.content) if answer.completion_tokens is None else answer.completion_tokens
        self._budget.settle(spending, prompt_tokens + completion_tokens)
        self._counts.add(Counted.TOKENS, "prompt", prompt_tokens)
        self._counts.add(Counted.TOKENS, "completion", completion_tokens)
