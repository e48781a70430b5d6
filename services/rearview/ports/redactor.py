"""Removal of personal data and secrets before anything is stored, logged or traced."""

from collections.abc import Collection
from typing import Protocol

from rearview.domain.text import PiiCategory, Redacted


class PayloadDepthError(ValueError):
    """A nested payload goes deeper than redaction follows; nothing of it may be stored."""


class Redactor(Protocol):
    """Redaction is idempotent: redacting what was redacted changes nothing."""

    def redact(self, text: str, categories: Collection[PiiCategory]) -> Redacted:
        """Return the text with every value of the given categories replaced by its placeholder."""
        ...

    def redact_tree(self, value: object, categories: Collection[PiiCategory]) -> tuple[object, tuple[PiiCategory, ...]]:
        """Redact the strings of a JSON-like payload, dictionary keys included; return it and the categories found.

        Raises:
            PayloadDepthError: the payload is nested deeper than the implementation follows.
        """
        ...
