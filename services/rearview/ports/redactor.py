"""Removal of personal data and secrets before anything is stored, logged or traced."""

from collections.abc import Callable, Collection
from typing import Protocol

from rearview.domain.text import PiiCategory, Redacted

Naming = Callable[[PiiCategory, str], str]
"""Returns the placeholder of a value of a category, as it stood in the text."""


def plain_name(category: PiiCategory, _value: str) -> str:
    """Return the category's placeholder, the same for every value."""
    return category.placeholder


class PayloadDepthError(ValueError):
    """A nested payload goes deeper than redaction follows; nothing of it may be stored."""


class Redactor(Protocol):
    """Redaction by rules is idempotent: redacting what was redacted changes nothing, placeholders included."""

    def redact(self, text: str, categories: Collection[PiiCategory], name: Naming = plain_name) -> Redacted:
        """Return the text with every value of the given categories replaced by what `name` calls it."""
        ...

    def redact_tree(
        self, value: object, categories: Collection[PiiCategory], name: Naming = plain_name
    ) -> tuple[object, tuple[PiiCategory, ...]]:
        """Redact the strings of a JSON-like payload, dictionary keys included; return it and the categories found.

        Raises:
            PayloadDepthError: the payload is nested deeper than the implementation follows.
        """
        ...

    def normal(self, category: PiiCategory, value: str) -> str:
        """Return the form that two spellings of one value share, in whatever language they were given."""
        ...
