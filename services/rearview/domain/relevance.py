"""Relevance: the fused score as a figure from 0 to 1, and what is too little of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RANKER = "features"
RANKER_VERSION = "features-5"
"""Changes with the constants below or with the terms of `fusion`; kept in traces."""

SLOPE = 0.59
INTERCEPT = -5.16
"""Logistic constants, fitted once on 760 labelled questions about long dialogues: the chance that a candidate lies
within two turns of the evidence. It is one half at S = 8.7. A new fit with the later terms gives .48 and -5.53, but so
flat a curve lets a difference in emotion outweigh one in relevance (-.003 recall@20), so the first one is kept."""


_LARGEST_LOGIT = 500.0
"""Beyond it the logistic is 0 or 1, and its exponential would overflow."""


def logit_terms(terms: Mapping[str, float]) -> dict[str, float]:
    """Return the terms of a fused score in units of the logit, with the constant as `bias`; they add up to it."""
    return {**{name: SLOPE * value for name, value in terms.items()}, "bias": INTERCEPT}


def relevance(fused: float) -> float:
    """Return the relevance, in [0, 1], of a fused score; grows with it."""
    return logistic(SLOPE * fused + INTERCEPT)


def relevances(fused: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what `relevance` returns of each of (n,) fused scores."""
    logits = np.clip(SLOPE * fused + INTERCEPT, -_LARGEST_LOGIT, _LARGEST_LOGIT)
    scores: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-logits))
    return scores


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
    """Below it nothing is returned. In a pool large enough to tell, a candidate is noise that shares no word with the
    query, that nothing in the query calls for, and whose vector lies no further above the rest than `vector_z`."""

    relevance: float = 0.0
    vector_z: float = 1.0

    def admits(
        self,
        *,
        relevance: float,
        keyword_score: float | None = None,
        vector_z: float | None = None,
        rerank_score: float | None = None,
        asked_for: bool = False,
    ) -> bool:
        """True if a candidate may be returned; `asked_for` when an entity, a time or the session calls for it, or when
        the pool is too small to tell noise by its vector."""
        if relevance < self.relevance:
            return False
        return (
            asked_for
            or (keyword_score or 0.0) > 0.0
            or (rerank_score or 0.0) >= _EVEN_ODDS
            or (vector_z is not None and vector_z >= self.vector_z)
        )


_EVEN_ODDS = 0.5

DEFAULT_FLOOR = Floor()
