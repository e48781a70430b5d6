"""From the bytes of a chat completion to the JSON that the model wrote in it."""

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from rearview.adapters.llm.attempt_failed import AttemptFailed, Remedy, broken
from rearview.domain.extraction_errors import ExtractionFailure

_MAX_CANDIDATES = 16
"""Opening braces tried in prose around an answer; each costs a parse."""

_MOST_TOKENS = 100_000_000


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What the model wrote. Token counts are the endpoint's; None where it tells none."""

    content: str
    prompt_tokens: int | None
    completion_tokens: int | None


def read_answer(body: bytes) -> ChatAnswer:
    """Return the first choice of a chat completion.

    Raises:
        AttemptFailed: it is none, was cut off, or the model refused to answer.
    """
    try:
        completion = _parsed(body.decode("utf-8"))
        choice = completion["choices"][0]
        message = choice["message"]
        content, finish = message.get("content"), choice.get("finish_reason")
        refusal = message.get("refusal")
        usage = completion.get("usage")
    except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError):
        raise broken("the answer is no chat completion") from None
    if finish == "content_filter" or refusal:
        raise AttemptFailed(ExtractionFailure.ANSWER_REFUSED, "the model refused", Remedy.GIVE_UP, blames=False)
    if finish == "length":
        raise broken("the answer was cut off", truncated=True)
    if not isinstance(content, str) or not content.strip():
        raise broken("the answer is empty")
    counts = usage if isinstance(usage, dict) else {}
    return ChatAnswer(content, _tokens(counts.get("prompt_tokens")), _tokens(counts.get("completion_tokens")))


def written_json(content: str) -> dict[str, Any]:
    """Return the object a model wrote: the whole text, or the last one with `turns` among prose and code fences.

    Raises:
        AttemptFailed: there is none.
    """
    try:
        whole = _parsed(content)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        return whole
    found: dict[str, Any] | None = None
    at = content.find("{")
    for _ in range(_MAX_CANDIDATES):
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(content, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        if isinstance(value, dict) and "turns" in value:
            found = value
        at = content.find("{", end)
    if found is None:
        raise broken("the answer holds no JSON object with turns")
    return found


def _no_number(_constant: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def _parsed(text: str) -> Any:
    return _DECODER.decode(text)


def _tokens(count: object) -> int | None:
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None
