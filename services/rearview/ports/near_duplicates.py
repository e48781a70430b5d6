"""Telling whether two texts say the same in nearly the same words."""

from typing import Protocol


class NearDuplicates(Protocol):
    """Signatures find candidates cheaply, the texts themselves decide."""

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

    def same_words(self, first: str, second: str) -> bool:
        """Return whether two texts are the same but for case, width, blanks and punctuation."""
        ...

    def are_duplicates(self, first: str, second: str) -> bool:
        """Whether two texts are near duplicates; texts whose numbers differ never are."""
        ...
