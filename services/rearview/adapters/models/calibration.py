"""Measures a model on the bilingual sample and writes down its mean vector and thresholds."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.calibration_sample import LANGUAGES, CalibrationSample, Language, Pairs
from rearview.adapters.models.turn_calibration import measure_turns
from rearview.domain.generation import EmbeddingGeneration, ModelCard, Probes, Thresholds
from rearview.ports.embedder import Embedder

PROBES = 8
"""Probe texts on a card, half in each language."""

_PARAPHRASES_KEPT = 0.75
_LIGHT_EDITS_KEPT = 0.95
_DIFFERENT_REFUSED = 0.995

_BY_THE_WAY: dict[Language, str] = {"zh": "对了，", "en": "By the way, "}


@dataclass(frozen=True, slots=True)
class Calibration:
    """A finished card and the figures behind it.

    Attributes:
        card: the card, with mean, thresholds and probes.
        figures: named cosines and rates, for people who want to judge the thresholds.
    """

    card: ModelCard
    figures: dict[str, float]


Progress = Callable[[str], None]
"""Is told which step begins."""


async def calibrate(embedder: Embedder, sample: CalibrationSample, progress: Progress = lambda _: None) -> Calibration:
    """Return the card of the model behind `embedder`, whose own card may be uncalibrated.

    The mean is the average of the two languages' mean passages. Thresholds are quantiles of
    centred cosines within a language, each taken in the language where it is the more careful
    for its purpose, so that one number serves both:

    - cache: keeps 75 % of paraphrases, both texts embedded as queries, and lets at most 0.5 % of the pairs
      through that are about one topic but say different things.
    - duplicate: keeps 95 % of light edits (a leading "by the way", a dropped full stop).
    - redundant, cross language, segment boundary and turn: see `measure_turns`.
    """
    progress("passages")
    raw = await embedder.embed_passages(sample.texts())
    progress("queries")
    raw_queries = np.stack([await embedder.embed_query(text) for text in sample.texts()])
    mean = np.mean([raw[sample.positions(language)].mean(axis=0) for language in LANGUAGES], axis=0)
    generation = EmbeddingGeneration(replace(embedder.generation.card, mean_passage=mean, probes=None))
    passages, queries = generation.centre(raw), generation.centre(raw_queries)
    progress("light edits")
    edits = [generation.centre(await embedder.embed_passages(texts)) for texts in _light_edits(sample)]

    figures: dict[str, float] = {"mean_length": float(np.linalg.norm(mean))}
    by_kind: dict[str, list[NDArray[np.float32]]] = {"same": [], "topic": [], "unrelated": [], "edit": []}
    query_kinds: dict[str, list[NDArray[np.float32]]] = {"same": [], "topic": []}
    for language in LANGUAGES:
        here = sample.positions(language)
        by_kind["same"].append(_cosines(passages, sample.same_statement(language)))
        by_kind["topic"].append(_cosines(passages, sample.same_topic(language)))
        by_kind["unrelated"].append(_cosines(passages, sample.unrelated(language)))
        by_kind["edit"].append(np.concatenate([(passages[here] * edited[here]).sum(axis=1) for edited in edits]))
        query_kinds["same"].append(_cosines(queries, sample.same_statement(language)))
        query_kinds["topic"].append(_cosines(queries, sample.same_topic(language)))
        for kind, cosines in by_kind.items():
            figures[f"{language}_{kind}_median"] = float(np.median(cosines[-1]))
        figures[f"{language}_raw_unrelated_median"] = float(np.median(_cosines(raw, sample.unrelated(language))))
    figures["translation_median"] = float(np.median(_cosines(passages, sample.translations())))

    progress("turns")
    turns = await measure_turns(embedder, generation, sample)
    figures.update(turns.figures)
    thresholds = Thresholds(
        redundant_cosine=turns.redundant,
        duplicate_cosine=_rounded(min(np.quantile(edited, 1 - _LIGHT_EDITS_KEPT) for edited in by_kind["edit"])),
        segment_boundary_cosine=turns.segment_boundary,
        cache_cosine=_keeping_paraphrases(query_kinds["same"], query_kinds["topic"]),
        segment_turn_cosine=turns.segment_turn,
        cross_language_cosine=turns.cross_language,
    )
    chosen = [position for language in LANGUAGES for position in sample.positions(language)[: PROBES // 2]]
    probes = Probes(
        texts=tuple(sample.passages[position].text for position in chosen),
        passages=raw[chosen],
        queries=raw_queries[chosen],
    )
    card = replace(generation.card, thresholds=thresholds, probes=probes, language_means=turns.language_means)
    return Calibration(card, {name: round(value, 4) for name, value in figures.items()})


def _keeping_paraphrases(same: list[NDArray[np.float32]], different: list[NDArray[np.float32]]) -> float:
    kept = min(np.quantile(cosines, 1 - _PARAPHRASES_KEPT) for cosines in same)
    refused = max(np.quantile(cosines, _DIFFERENT_REFUSED) for cosines in different)
    return _rounded(max(kept, refused))


def _light_edits(sample: CalibrationSample) -> list[list[str]]:
    """Return the sample twice: each passage without its full stop, and behind a "by the way"."""
    return [
        [passage.text.rstrip("。.") for passage in sample.passages],
        [_BY_THE_WAY[passage.language] + passage.text for passage in sample.passages],
    ]


def _cosines(vectors: NDArray[np.float32], pairs: Pairs) -> NDArray[np.float32]:
    left, right = np.array(pairs).T
    cosines: NDArray[np.float32] = (vectors[left] * vectors[right]).sum(axis=1)
    return cosines


def _rounded(cosine: np.floating | float) -> float:
    return round(float(cosine), 3)
