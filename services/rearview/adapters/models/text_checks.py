"""Checks on texts before they reach a model."""

import math
from collections.abc import Sequence

from rearview.domain.embedding_errors import InvalidModelInput


def checked_texts(field: str, texts: Sequence[str]) -> list[str]:
    """Return the texts as a list.

    Raises:
        InvalidModelInput: naming the first text that is blank or cannot be encoded as UTF-8.
    """
    if isinstance(texts, str):
        raise InvalidModelInput(field, "expected a sequence of texts, got one text")
    return [checked_text(f"{field}[{index}]", text) for index, text in enumerate(texts)]


def checked_text(field: str, text: str) -> str:
    """Return the text.

    Raises:
        InvalidModelInput: the text is blank or cannot be encoded as UTF-8.
    """
    if not text.strip():
        raise InvalidModelInput(field, "is blank")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidModelInput(field, "holds a lone surrogate, which is no character") from None
    return text


def checked_budget(budget_seconds: float) -> float:
    """Return the budget.

    Raises:
        InvalidModelInput: it is negative or not finite.
    """
    if not math.isfinite(budget_seconds) or budget_seconds < 0:
        raise InvalidModelInput("budget_seconds", f"must be finite and not negative, got {budget_seconds}")
    return budget_seconds
