"""Telling whether two texts say the same in nearly the same words."""

from typing import Protocol


class NearDuplicates(Protocol):
    """Signatures find candidates cheaply, the texts themselves decide."""

    def signature(self, text: str) -> tuple[int, ...]:
        """Unsigned 32-bit values of a fixed number, equal for equal texts on every machine."""
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
