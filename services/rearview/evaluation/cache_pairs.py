"""How well the semantic cache tells queries that ask the same from those that nearly do."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import exp, lgamma, log, log1p
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rearview.domain.canonical_query import CanonicalQuery, refusal

RAW_COSINE = 0.95
_CONFIDENCE = 0.95
_COLUMNS = 3
_HAN = ("\u3400", "\u9fff")


@dataclass(frozen=True, slots=True)
class QueryPair:
    """Two queries, whether they ask the same, and of what kind the pair is."""

    same: bool
    one: str
    other: str
    kind: str = ""

    @property
    def language(self) -> str:
        """`zh` when the first query holds a Chinese character, else `en`."""
        return "zh" if any(_HAN[0] <= character <= _HAN[1] for character in self.one) else "en"


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """Vectors of texts as queries: (n, d) float32, L2-normalised, as the model gives them and centred."""

    raw: NDArray[np.float32]
    centred: NDArray[np.float32]


Embed = Callable[[Sequence[str]], EmbeddedTexts]


def read_query_pairs(file: Path | None) -> list[QueryPair]:
    """Return the pairs of a TSV: label (1 the same, 0 not), query, query and, if given, the kind; without a file, the
    held-out half of the shipped set.

    Raises:
        ValueError: a line has fewer columns, or another label.
    """
    source = file or files("rearview.evaluation") / "data" / "cache_pairs_heldout.tsv"
    pairs = []
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        columns = line.split("\t")
        if not line.strip():
            continue
        if len(columns) < _COLUMNS or columns[0] not in ("0", "1"):
            raise ValueError(f"line {number}: expected a label, 0 or 1, and two queries, separated by tabs")
        pairs.append(QueryPair(columns[0] == "1", columns[1], columns[2], "\t".join(columns[_COLUMNS:]).strip()))
    return pairs


def evaluate_cache_pairs(
    pairs: Sequence[QueryPair], canonical: Callable[[str], CanonicalQuery], embed: Embed, cosine: float
) -> dict[str, object]:
    """Return the shares of pairs that would share an answer, by the gateway's rule and by the raw cosine alone.

    `cosine` is the least similarity of centred vectors; queries of the same canonical words need none.
    """
    texts = sorted({text for pair in pairs for text in (pair.one, pair.other)})
    at = {text: place for place, text in enumerate(texts)}
    vectors, words = embed(texts), {text: canonical(text) for text in texts}

    def shares(pair: QueryPair) -> bool:
        one, other = words[pair.one], words[pair.other]
        if pair.one == pair.other:
            return True
        if refusal(one, other) is not None:
            return False
        centred = vectors.centred
        return one.tokens == other.tokens or float(centred[at[pair.one]] @ centred[at[pair.other]]) > cosine

    def alike(pair: QueryPair) -> bool:
        return float(vectors.raw[at[pair.one]] @ vectors.raw[at[pair.other]]) > RAW_COSINE

    return {
        **_figures(pairs, {pair: shares(pair) for pair in pairs}),
        "cosine_alone": _figures(pairs, {pair: alike(pair) for pair in pairs}),
    }


def _figures(pairs: Sequence[QueryPair], hit: Mapping[QueryPair, bool]) -> dict[str, object]:
    same = [hit[pair] for pair in pairs if pair.same]
    different = [hit[pair] for pair in pairs if not pair.same]
    counted, hits = Counter(pair.kind for pair in pairs), Counter(pair.kind for pair in pairs if hit[pair])
    return {
        "hit_rate": _rate(sum(same), len(same)),
        "false_hit_rate": _rate(sum(different), len(different)),
        "false_hit_rate_below": upper_bound(sum(different), len(different)),
        "same": len(same),
        "different": len(different),
        "by_language": {
            language: {
                name: _rate(sum(hit[pair] for pair in chosen), len(chosen))
                for name, chosen in (
                    ("hit_rate", [pair for pair in pairs if pair.same and pair.language == language]),
                    ("false_hit_rate", [pair for pair in pairs if not pair.same and pair.language == language]),
                )
            }
            for language in sorted({pair.language for pair in pairs})
        },
        "by_kind": {kind: _rate(hits[kind], counted[kind]) for kind in sorted(counted)},
    }


def upper_bound(hits: int, count: int) -> float:
    """Return the rate that the true one is below with 95 % confidence (Clopper-Pearson), found by bisection."""
    if hits >= count:
        return 1.0
    low, high = hits / count, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(hits, count, middle) > 1 - _CONFIDENCE else (low, middle)
    return round(high, 5)


def _at_most(hits: int, count: int, rate: float) -> float:
    # In logarithms, since the terms of a large sample are too small for a float.
    whole = lgamma(count + 1)
    return sum(
        exp(whole - lgamma(at + 1) - lgamma(count - at + 1) + at * log(rate) + (count - at) * log1p(-rate))
        for at in range(hits + 1)
    )


def _rate(hits: int, count: int) -> float:
    return round(hits / count, 4) if count else 0.0
