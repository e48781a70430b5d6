"""What a query's words may be called in the other language, and how much of that a text says."""

from collections.abc import Mapping
from dataclasses import dataclass

from rearview.domain.bm25 import inverse_document_frequency, query_terms

LEAST_KNOWN = 0.4
"""At least this share of the words counts as known in a namespace. Otherwise, where little is stored, a text with the
one word that is known there would say everything that was asked."""


@dataclass(frozen=True, slots=True)
class TranslatedWords:
    """The hashes of what each word may be called, with the word's weight in the query."""

    words: tuple[tuple[float, frozenset[int]], ...] = ()

    @property
    def terms(self) -> dict[int, float]:
        """The terms to score texts by, with their counts: the more may stand for a word, the less each weighs."""
        return query_terms((term, _share(weight, found)) for weight, found in self.words for term in found)

    def mass(self, frequencies: Mapping[int, int], units: int) -> float:
        """Return about what a text of average length scores that says each word that its namespace knows, once.

        Args:
            frequencies: in how many units each term occurs; 0 for terms not named.
            units: how many units there are.
        """
        known = every = 0.0
        for weight, found in self.words:
            here = [term for term in found if frequencies.get(term, 0)]
            worth = _share(weight, found) * max(
                inverse_document_frequency(units, frequencies.get(term, 0)) for term in (here or found)
            )
            every += worth
            known += worth if here else 0.0
        return max(known, LEAST_KNOWN * every)


def _share(weight: float, found: frozenset[int]) -> float:
    return float(weight * len(found) ** -0.5)


NO_TRANSLATION = TranslatedWords()
