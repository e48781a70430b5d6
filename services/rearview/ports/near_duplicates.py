"""Telling whether two texts say the same in nearly the same words."""

from typing import Protocol


class NearDuplicates(Protocol):
    """Signatures find candidates cheaply, the texts themselves decide."""

    def signature(self, text: str) -> tuple[int, ...]:
        """Unsigned 32-bit values of a fixed number, equal for equal texts on every machine."""
        ...

    def bands(self, text: str) -> tuple[int, ...]:
        """Signed 32-bit values of which near duplicates share at least one, almost surely; none for an empty text."""
        ...

    def difference(self, first: str, second: str) -> str | None:
        """Return what keeps two texts of whatever languages apart, however alike they look: `question`, `numbers`,
        `negation`, or, within one language, `words`, where each has words of content that the other lacks or the
        second has more; None if nothing does."""
        ...

    def adds_words(self, first: str, second: str) -> bool:
        """Return whether the second text has words of content that the first lacks, where they share a language."""
        ...

    def may_be_duplicates(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """Whether two signatures are alike enough to compare the texts.

        Raises:
            ValueError: the signatures differ in length.
        """
        ...

    def are_duplicates(self, first: str, second: str) -> bool:
        """Whether two texts are near duplicates; texts whose numbers differ never are."""
        ...
