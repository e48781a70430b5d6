"""BM25 (Robertson and Zaragoza 2009): the same figures that the index stores and the database computes.

A document's part of the score lies in its stored weights, the query's part is the inverse document frequency, so a
score is the inner product of the two.
"""

import math
from collections.abc import Collection, Iterable, Mapping

K1 = 1.2
B = 0.75
MAX_QUERY_TERMS = 512
"""More distinct terms than this come from a long dialogue; the rest would change no ranking."""


def inverse_document_frequency(units: int, units_with_term: int) -> float:
    """Return `ln(1 + (N - df + .5) / (df + .5))`, positive; a df above N (counts lag behind) counts as N."""
    frequency = min(units_with_term, units)
    return math.log1p((units - frequency + 0.5) / (frequency + 0.5))


def term_weight(term_frequency: float, length: float, average_length: float) -> float:
    """Return a term's weight within a document: `tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl / avgdl))`, in [0, 2.2].

    An `average_length` of 0 (nothing is counted yet) takes the document for average.
    """
    if term_frequency <= 0:
        return 0.0
    relative = length / average_length if average_length > 0 else 1.0
    return term_frequency * (K1 + 1.0) / (term_frequency + K1 * (1.0 - B + B * relative))


def query_terms(keywords: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return the distinct terms of a query, given with their weights, with the sums of these; the first
    MAX_QUERY_TERMS in order of appearance."""
    counts: dict[int, float] = {}
    for keyword, weight in keywords:
        if keyword in counts:
            counts[keyword] += weight
        elif len(counts) < MAX_QUERY_TERMS:
            counts[keyword] = weight
    return counts


def query_mass(terms: Mapping[int, float], frequencies: Mapping[int, int], units: int) -> float:
    """Return the sum of a query's term counts times their inverse document frequencies: about what a document of
    average length scores that has each term once. Arguments as of `score`."""
    return sum(
        count * inverse_document_frequency(units, frequencies.get(keyword, 0)) for keyword, count in terms.items()
    )


def score(
    terms: Mapping[int, float], frequencies: Mapping[int, int], units: int, document: Collection[int], average: float
) -> float:
    """Return the BM25 score of a document that is not in the index, given its keywords with repeats.

    Args:
        terms: the query's terms with their counts.
        frequencies: in how many units each term occurs; 0 for terms not named.
        units: how many units there are.
        document: the document's keywords.
        average: average length of a document, in keywords.
    """
    counts: dict[int, int] = {}
    for keyword in document:
        if keyword in terms:
            counts[keyword] = counts.get(keyword, 0) + 1
    return sum(
        terms[keyword]
        * inverse_document_frequency(units, frequencies.get(keyword, 0))
        * term_weight(count, len(document), average)
        for keyword, count in counts.items()
    )
