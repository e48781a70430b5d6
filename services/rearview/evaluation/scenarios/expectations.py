"""Holding an answer against what a scenario expects of it."""

from __future__ import annotations

from collections.abc import Iterator

from rearview.domain.errors import DeadlineExceeded, RearviewError
from rearview.evaluation.scenarios.answer import Answer
from rearview.evaluation.scenarios.scenario import Expect

_NAMED = ("outcome", "state", "trust", "origin", "type", "tier", "empty_reason", "cached", "complete", "ranker")
_SHOWN_CHARACTERS = 160


def broken(expect: Expect | None, answer: Answer) -> list[str]:
    """Return what does not hold; without an expectation, a call must merely succeed."""
    if expect is not None and expect.or_says_why and _says_why(answer):
        return []
    if answer.error is not None:
        if expect is None or expect.error is None:
            return [f"failed with {answer.error.reason}: {answer.error}"]
        return list(_of_error(expect, answer.error, answer.error_fields))
    if expect is None:
        return []
    if expect.error is not None:
        return [f"expected the error {expect.error}, got {len(answer.results)} results{_shown(answer)}"]
    return list(_of_answer(expect, answer))


def _says_why(answer: Answer) -> bool:
    return isinstance(answer.error, DeadlineExceeded) or bool(answer.fields.get("degraded"))


def _of_error(expect: Expect, error: RearviewError, fields: list[str]) -> Iterator[str]:
    if error.reason != expect.error:
        yield f"expected the error {expect.error}, got {error.reason}: {error}"
    if expect.field is not None and expect.field not in fields:
        yield f"expected the field {expect.field} to be named, got {fields}"


def _of_answer(expect: Expect, answer: Answer) -> Iterator[str]:
    results = [result.casefold() for result in answer.results]
    everything = "\n".join([*results, answer.context.casefold()])
    for text in expect.first:
        if not results or text.casefold() not in results[0]:
            yield f"{text!r} is not in the first result{_shown(answer)}"
    for text in expect.any:
        if not any(text.casefold() in result for result in results):
            yield f"{text!r} is in no result{_shown(answer)}"
    for text in expect.none:
        if text.casefold() in everything:
            yield f"{text!r} stands in the answer{_shown(answer)}"
    for text in expect.once:
        times = sum(text.casefold() in result for result in results)
        if times != 1:
            yield f"{text!r} is in {times} results, not in one{_shown(answer)}"
    following = iter(results)
    for text in expect.in_order:
        if not any(text.casefold() in result for result in following):
            yield f"{text!r} is not in a result behind those before it{_shown(answer)}"
            break
    for text in expect.context:
        if text.casefold() not in answer.context.casefold():
            yield f"{text!r} is not in the context: {answer.context[:_SHOWN_CHARACTERS]!r}"
    if expect.cites is not None and expect.cites.casefold() not in answer.cited.casefold():
        yield f"the first result cites {answer.cited[:_SHOWN_CHARACTERS]!r}, not {expect.cites!r}"
    yield from _of_counts(expect, answer)
    yield from _of_fields(expect, answer)


def _of_counts(expect: Expect, answer: Answer) -> Iterator[str]:
    found = len(answer.results)
    if expect.count is not None and found != expect.count:
        yield f"{found} results, not {expect.count}{_shown(answer)}"
    if expect.at_least is not None and found < expect.at_least:
        yield f"{found} results, fewer than {expect.at_least}{_shown(answer)}"
    if expect.at_most is not None and found > expect.at_most:
        yield f"{found} results, more than {expect.at_most}{_shown(answer)}"


def _of_fields(expect: Expect, answer: Answer) -> Iterator[str]:
    for name in _NAMED:
        wanted = getattr(expect, name)
        if wanted is not None and answer.fields.get(name) != wanted:
            yield f"{name} is {answer.fields.get(name)!r}, not {wanted!r}{_shown(answer)}"
    for name in ("redactions", "degraded"):
        listed = getattr(expect, name)
        if listed is not None and answer.fields.get(name) != sorted(listed):
            yield f"{name} are {answer.fields.get(name)}, not {sorted(listed)}"
    tokens = answer.fields.get("context_tokens")
    most = expect.context_tokens_at_most
    if most is not None and not (isinstance(tokens, int) and tokens <= most):
        yield f"the context has {tokens} tokens, more than {most}"


def _shown(answer: Answer) -> str:
    if not answer.results:
        return "; there are no results"
    return "; results: " + " | ".join(result[:_SHOWN_CHARACTERS].replace("\n", " / ") for result in answer.results)
