"""An embedder behind an OpenAI-compatible endpoint (`POST .../embeddings`)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import tenacity
from numpy.typing import NDArray

from rearview.adapters.models.endpoint import check_endpoint
from rearview.adapters.models.text_checks import checked_text, checked_texts
from rearview.domain.embedding_errors import (
    InvalidModelInput,
    ModelAnswerInvalid,
    ModelClosed,
    ModelMismatch,
    ModelRequestRejected,
    ModelUnavailable,
)
from rearview.domain.generation import EmbeddingGeneration, ModelCard, normalise_rows

_RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_MAX_ANSWER_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to ask.

    Attributes:
        url: the endpoint itself, for example `https://models.internal/v1/embeddings`.
        model: the model's name at the endpoint.
        api_key: sent as a bearer token; never shown.
        timeout_seconds: bound of one attempt.
        attempts: tries of one request before giving up.
        first_pause_seconds: pause before the second try; doubles, with jitter.
        longest_pause_seconds: bound of a pause, also of one the endpoint asks for.
        max_batch_texts: texts of one request.
        max_concurrent_requests: bound of requests on their way at once.
    """

    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 20.0
    attempts: int = 4
    first_pause_seconds: float = 0.25
    longest_pause_seconds: float = 8.0
    max_batch_texts: int = 64
    max_concurrent_requests: int = 4

    def __post_init__(self) -> None:
        check_endpoint(self.url, self.model, self.api_key)
        for name in ("timeout_seconds", "attempts", "max_batch_texts", "max_concurrent_requests"):
            if getattr(self, name) <= 0:
                raise InvalidModelInput(name, "must be positive")
        for name in ("first_pause_seconds", "longest_pause_seconds"):
            if getattr(self, name) < 0:
                raise InvalidModelInput(name, "must not be negative")


class _TryAgain(Exception):
    """One attempt failed in a way that may pass; holds the pause the endpoint asked for."""

    def __init__(self, reason: str, pause_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.pause_seconds = pause_seconds


class HttpEmbedder:
    """Embeds by asking an endpoint; prompts of the card are put in front of the texts here.

    Time-outs, lost connections, 429 and 5xx are retried with growing pauses. Errors name the
    endpoint's host and the status, never the key, the texts or the endpoint's answer.
    """

    def __init__(self, endpoint: Endpoint, card: ModelCard) -> None:
        self._endpoint = endpoint
        self._generation = EmbeddingGeneration(card)
        headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=endpoint.timeout_seconds,
            limits=httpx.Limits(max_connections=endpoint.max_concurrent_requests + 1),
            follow_redirects=False,  # a redirect would carry texts to a place nobody configured
        )
        # Queries have one place of their own, so a flood of passages cannot hold them up.
        self._passage_places = asyncio.Semaphore(endpoint.max_concurrent_requests)
        self._query_places = asyncio.Semaphore(1)
        self._host = httpx.URL(endpoint.url).host

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        return self._generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32, rows L2-normalised; see `Embedder`.

        Raises:
            ModelRequestRejected: the endpoint refuses for good.
            ModelAnswerInvalid: the endpoint answers something else than embeddings.
            ModelMismatch: the vectors' dimension is not the card's.
        """
        prompt = self._generation.card.prompts.passage
        prompted = [prompt + text for text in checked_texts("texts", texts)]
        size = self._endpoint.max_batch_texts
        vectors = np.empty((len(prompted), self._generation.dimension), dtype=np.float32)
        for start in range(0, len(prompted), size):
            async with self._passage_places:
                vectors[start : start + size] = await self._ask(prompted[start : start + size])
        return vectors

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; raises what `embed_passages` does."""
        prompted = self._generation.card.prompts.query + checked_text("text", text)
        async with self._query_places:
            rows = await self._ask([prompted])
        vector: NDArray[np.float32] = rows[0]
        return vector

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _ask(self, prompted: list[str]) -> NDArray[np.float32]:
        if self._client.is_closed:
            raise ModelClosed("the model was closed")
        endpoint = self._endpoint
        growing = tenacity.wait_random_exponential(
            multiplier=endpoint.first_pause_seconds, max=endpoint.longest_pause_seconds
        )

        def pause(state: tenacity.RetryCallState) -> float:
            failure = state.outcome.exception() if state.outcome else None
            asked = failure.pause_seconds if isinstance(failure, _TryAgain) else None
            return min(asked, endpoint.longest_pause_seconds) if asked is not None else growing(state)

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(_TryAgain),
            stop=tenacity.stop_after_attempt(endpoint.attempts),
            wait=pause,
            reraise=True,
        )
        try:
            answer: Any = await retrying(self._post, prompted)
        except _TryAgain as last:
            raise ModelUnavailable(f"{self._host} failed {endpoint.attempts} times, last: {last}") from None
        return self._vectors(answer, len(prompted))

    async def _post(self, prompted: list[str]) -> Any:
        """Return the JSON of one successful attempt."""
        body = {"model": self._endpoint.model, "input": prompted, "encoding_format": "float"}
        try:
            # httpx bounds each read; this bounds the attempt, against an endpoint that drips.
            async with asyncio.timeout(self._endpoint.timeout_seconds):
                response = await self._client.post(self._endpoint.url, json=body)
        except (TimeoutError, httpx.TimeoutException):
            raise _TryAgain("time-out") from None
        except httpx.TransportError as failure:
            raise _TryAgain(type(failure).__name__) from None
        if response.status_code in _RETRIED_STATUS:
            raise _TryAgain(f"status {response.status_code}", _asked_pause(response))
        if not response.is_success:
            raise ModelRequestRejected(f"{self._host} refused the request with status {response.status_code}")
        if len(response.content) > _MAX_ANSWER_BYTES:
            raise ModelAnswerInvalid(f"{self._host} answered more than {_MAX_ANSWER_BYTES} bytes")
        try:
            return response.json()
        except ValueError:
            raise ModelAnswerInvalid(f"{self._host} answered something that is not JSON") from None

    def _vectors(self, answer: Any, count: int) -> NDArray[np.float32]:
        """Return the answer's vectors in the order of the texts."""
        try:
            by_index = {int(entry["index"]): entry["embedding"] for entry in answer["data"]}
            rows = [np.asarray(by_index[index], dtype=np.float32) for index in range(count)]
        except (KeyError, TypeError, ValueError):
            raise ModelAnswerInvalid(f"{self._host} did not answer one embedding for each of {count} texts") from None
        for row in rows:
            if row.shape != (self._generation.dimension,):
                raise ModelMismatch(
                    f"{self._host} answers vectors of shape {row.shape}, the card says {self._generation.dimension}"
                )
        try:
            return normalise_rows(np.stack(rows))
        except InvalidModelInput:
            raise ModelAnswerInvalid(f"{self._host} answered a vector without a direction") from None


def _asked_pause(response: httpx.Response) -> float | None:
    """Return the seconds of a Retry-After header, if it holds a number."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None
