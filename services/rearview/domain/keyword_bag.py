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
"""How many terms of a bag the index keeps, the best by weight x IDF."""

TWO_BEFORE, BEFORE, ITSELF, AFTER, TWO_AFTER = 0.3, 0.6, 1.0, 0.3, 0.2


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


def window_bag(own: Sequence[int], before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> KeywordBag:
    """Return the bag of a turn with its neighbours' terms, the nearest neighbours first."""
    bag = KeywordBag.of(own)
    for neighbours, weights in ((before, (BEFORE, TWO_BEFORE)), (after, (AFTER, TWO_AFTER))):
        for keywords, weight in zip(neighbours, weights, strict=False):
            bag = bag.including(keywords[:MAX_OWN_TOKENS], weight)
    return bag


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
