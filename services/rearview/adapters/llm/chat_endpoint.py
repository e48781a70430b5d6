"""One request to `POST .../chat/completions`, and every way it can fail."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from rearview.adapters.llm.attempt_failed import AttemptFailed, FormatRefused, Remedy, broken
from rearview.adapters.llm.chat_answer import ChatAnswer, read_answer
from rearview.adapters.llm.settings import LlmSettings
from rearview.domain.extraction_errors import ExtractionFailure

_TRIED_AGAIN = frozenset({408, 409, 425, 500, 502, 503, 504, 529})
_FORMAT_REFUSALS = frozenset({400, 404, 415, 422, 501})
_LASTING = frozenset({401, 402, 403, 404})
_TOO_MANY = 429


class ChatEndpoint:
    """Asks, and reads no more than it has to. Failures name statuses and kinds, never texts, keys or answers."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        # A compressed answer could unfold to any size before its length is seen.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if settings.api_key:
            headers["Authorization"] = f"Bearer {settings.api_key}"
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=settings.attempt_seconds,
            limits=httpx.Limits(max_connections=settings.max_concurrent_requests),
            follow_redirects=False,  # a redirect would carry texts to a place nobody configured
        )

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._client.is_closed

    async def ask(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        response_format: Mapping[str, Any] | None,
        max_output_tokens: int,
        seconds: float,
    ) -> ChatAnswer:
        """Return the model's answer within `seconds`.

        Raises:
            FormatRefused: a `response_format` was given, and the endpoint refuses such a request.
            AttemptFailed: there is no answer, or one that is no chat completion.
        """
        if self.is_closed:
            raise AttemptFailed(ExtractionFailure.CLOSED, "", Remedy.GIVE_UP, blames=False)
        body: dict[str, Any] = {
            "model": self._settings.model,
            "messages": list(messages),
            self._settings.output_limit_field: max_output_tokens,
        }
        if self._settings.temperature is not None:
            body["temperature"] = self._settings.temperature
        if response_format is not None:
            body["response_format"] = dict(response_format)
        try:
            # httpx bounds each read; this bounds the attempt, against an endpoint that drips.
            async with (
                asyncio.timeout(seconds),
                self._client.stream("POST", self._settings.url, json=body) as response,
            ):
                self._check_status(response, asked_for_format=response_format is not None)
                return read_answer(await self._bounded(response))
        except (TimeoutError, httpx.TimeoutException):
            raise AttemptFailed(ExtractionFailure.TIMED_OUT, "no whole answer in time", Remedy.TRY_AGAIN) from None
        except (httpx.TransportError, httpx.StreamError) as failure:
            raise AttemptFailed(ExtractionFailure.CONNECTION_FAILED, type(failure).__name__, Remedy.TRY_AGAIN) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _check_status(self, response: httpx.Response, *, asked_for_format: bool) -> None:
        status = response.status_code
        if status == _TOO_MANY:
            pause = asked_pause(response.headers.get("Retry-After", ""), datetime.now(UTC))
            raise AttemptFailed(
                ExtractionFailure.RATE_LIMITED, f"status {status}", Remedy.TRY_AGAIN, pause_seconds=pause
            )
        if asked_for_format and status in _FORMAT_REFUSALS:
            raise FormatRefused
        if status in _TRIED_AGAIN or response.is_server_error:
            pause = asked_pause(response.headers.get("Retry-After", ""), datetime.now(UTC))
            raise AttemptFailed(
                ExtractionFailure.SERVER_ERROR, f"status {status}", Remedy.TRY_AGAIN, pause_seconds=pause
            )
        if not response.is_success:
            raise AttemptFailed(
                ExtractionFailure.REQUEST_REJECTED, f"status {status}", Remedy.GIVE_UP, lasting=status in _LASTING
            )

    async def _bounded(self, response: httpx.Response) -> bytes:
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            raise broken("the answer is not of type application/json")
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise broken("the answer is compressed, which was not asked for")
        content = bytearray()
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self._settings.max_answer_bytes:
                raise broken(f"the answer has more than {self._settings.max_answer_bytes} bytes")
        return bytes(content)


def asked_pause(value: str, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or as a date; None without sense."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
