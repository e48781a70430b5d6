"""Keyword tokens of a text."""

from typing import Protocol


class Tokenizer(Protocol):
    """The same text gives the same tokens on every machine and in every version of an index generation."""

    def tokens(self, text: str) -> list[str]:
        """Return the keyword tokens in order, repeats included."""
        ...
