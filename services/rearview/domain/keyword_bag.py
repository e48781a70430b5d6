"""Keyword bags: the weighted terms by which BM25 finds a unit, gathered over the turns around it.

Terms are hashes (`token_hash`), so a bag never holds text. A turn's own tokens count 1, the previous turn's .6, the
next one's .3, two before .3 and two after .2 (measured on long dialogues). Neighbours are taken in until the bag holds
MAX_TOKENS tokens, because uncapped windows lose quality on long messages; own tokens come first.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

MAX_TOKENS = 150
MAX_OWN_TOKENS = 1_000
MAX_TERMS = 48
"""How many terms the search projection of a unit keeps, the best by weight x IDF."""

TWO_BEFORE, BEFORE, ITSELF, AFTER, TWO_AFTER = 0.3, 0.6, 1.0, 0.3, 0.2

K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class KeywordBag:
    """Weights by term, and how many tokens went in."""

    weights: Mapping[int, float] = field(default_factory=dict)
    token_count: int = 0

    @classmethod
    def of(cls, keywords: Sequence[int]) -> "KeywordBag":
        """Return the bag of a text's own terms, in order of appearance, repeats included."""
        own = keywords[:MAX_OWN_TOKENS]
        return cls(_added({}, own, ITSELF), len(own))

    def including(self, keywords: Sequence[int], weight: float) -> "KeywordBag":
        """Return this bag with a neighbour's terms added, as far as the cap has room for them."""
        taken = keywords[: max(0, MAX_TOKENS - self.token_count)]
        if not taken:
            return self
        return KeywordBag(_added(self.weights, taken, weight), self.token_count + len(taken))

    @property
    def length(self) -> float:
        """The document length of BM25: the sum of the weights."""
        return math.fsum(self.weights.values())


def bm25_weights(bag: KeywordBag, average_length: float) -> dict[int, float]:
    """Return each term's BM25 weight without its IDF: `tf * 2.2 / (tf + 1.2 * (.25 + .75 * dl / avgdl))`.

    An `average_length` of 0 (an empty namespace) takes the bag's own length for the average.
    """
    length = bag.length
    relative = length / average_length if average_length > 0 else 1.0
    saturation = K1 * (1 - B + B * relative)
    return {term: tf * (K1 + 1) / (tf + saturation) for term, tf in bag.weights.items()}


def inverse_document_frequency(units_with_term: int, units: int) -> float:
    """Return `ln(1 + (N - df + .5) / (df + .5))`; counts that disagree (df > N) are read as df = N."""
    df = min(units_with_term, units)
    return math.log(1 + (units - df + 0.5) / (df + 0.5))


def top_terms(weights: Mapping[int, float], frequencies: Mapping[int, int], units: int) -> dict[int, float]:
    """Return at most MAX_TERMS terms, those with the greatest weight x IDF; ties go to the smaller hash."""
    if len(weights) <= MAX_TERMS:
        return dict(weights)
    ranked = sorted(
        weights,
        key=lambda term: (-weights[term] * inverse_document_frequency(frequencies.get(term, 0), units), term),
    )
    return {term: weights[term] for term in ranked[:MAX_TERMS]}


def count_units(bags: Iterable[KeywordBag]) -> dict[int, int]:
    """Return in how many of the bags each term occurs, terms ascending (the order in which their rows are locked)."""
    counts: dict[int, int] = {}
    for bag in bags:
        for term in bag.weights:
            counts[term] = counts.get(term, 0) + 1
    return dict(sorted(counts.items()))


def _added(weights: Mapping[int, float], terms: Sequence[int], weight: float) -> dict[int, float]:
    summed = dict(weights)
    for term in terms:
        summed[term] = summed.get(term, 0.0) + weight
    return summed
