"""Relevance: the fused score as a figure from 0 to 1, and what is too little of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

RANKER = "features"
RANKER_VERSION = "features-1"
"""Changes with the constants below or with the terms of `fusion`; kept in traces."""

SLOPE = 0.75
INTERCEPT = -4.0
"""Logistic constants, fitted on labelled dialogue questions: at S = 5.3 every second candidate was evidence."""


def logit_terms(terms: Mapping[str, float]) -> dict[str, float]:
    """Return the terms of a fused score in units of the logit, with the constant as `bias`; they add up to it."""
    return {**{name: SLOPE * value for name, value in terms.items()}, "bias": INTERCEPT}


def relevance(fused: float) -> float:
    """Return the relevance, in [0, 1], of a fused score; grows with it."""
    return logistic(SLOPE * fused + INTERCEPT)


def logistic(logit: float) -> float:
    """Return `1 / (1 + exp(-logit))` without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)


def blend(features: float, reranked: float, weight: float) -> float:
    """Return the relevance in which a reranker's score, in [0, 1], has the share `weight`."""
    return (1.0 - weight) * features + weight * reranked


@dataclass(frozen=True, slots=True)
class Floor:
    """Below it nothing is returned. A candidate that shares no word with the query, names nothing that it names, lies
    in no time that it asks for and points another way is noise, however well it compares with other noise."""

    relevance: float = 0.0
    cosine: float = 0.05

    def admits(self, *, relevance: float, keyword_score: float | None, cosine: float | None, asked_for: bool) -> bool:
        """True if a candidate may be returned; `asked_for` when an entity, a time or the session calls for it."""
        if relevance < self.relevance:
            return False
        return asked_for or (keyword_score or 0.0) > 0.0 or (cosine is not None and cosine >= self.cosine)


DEFAULT_FLOOR = Floor()
