"""Calibration on texts as turns are embedded: with a date, some with a speaker, corrected for their language."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.calibration_sample import LANGUAGES, CalibrationSample, Pairs, Passage
from rearview.domain.generation import CARD_LANGUAGES, EmbeddingGeneration
from rearview.domain.segmentation import LOOK_AHEAD, LOOK_BACK
from rearview.domain.text import Language
from rearview.domain.turn_text import memory_unit_text
from rearview.ports.embedder import Embedder

_SPEAKER = "Alex"
_FIRST_DAY = datetime(2024, 3, 5, tzinfo=UTC)
_DAYS_APART = 37

_PARAPHRASES_KEPT = 0.6
_CONTRASTS_REFUSED = 0.95
_DIFFERENT_REFUSED = 0.995


@dataclass(frozen=True, slots=True, eq=False)
class TurnFigures:
    """Thresholds on corrected vectors, the (2, d) means by which they are corrected, and the figures behind them."""

    language_means: NDArray[np.float32]
    redundant: float
    cross_language: float
    segment_boundary: float
    segment_turn: float
    figures: dict[str, float]


async def measure_turns(embedder: Embedder, generation: EmbeddingGeneration, sample: CalibrationSample) -> TurnFigures:
    """Return the thresholds for comparing turns.

    - redundant: lets at most 5 % of the contrasts through (a statement's frame and numbers with another content) and
      0.5 % of the pairs about one topic that say different things, said by one speaker on one day, which is when they
      look most alike; and it is no lower than what 60 % of the paraphrases of another day reach. The stricter language
      counts.
    - cross language: the same for pairs across languages, whatever is left of the translations then.
    - segment boundary, segment turn: part windows of turns (three, and the two or the one after them) inside a talk
      from those across the end of one best, counting both kinds of error alike, languages pooled.
    """
    spread = await _plain(embedder, generation, sample.passages, days_apart=_DAYS_APART)
    means = np.stack([spread[sample.positions(language)].mean(axis=0) for language in LANGUAGES])
    corrected = _Corrected(generation, means)
    spread = corrected.of(spread, sample.passages)
    same_day = corrected.of(await _plain(embedder, generation, sample.passages, speaker=_SPEAKER), sample.passages)
    contrasts = corrected.of(await _plain(embedder, generation, sample.contrasts, speaker=_SPEAKER), sample.contrasts)
    figures: dict[str, float] = {}
    same, refused = [], []
    for language in LANGUAGES:
        said = _cosines(spread, spread, sample.same_statement(language))
        different = _cosines(same_day, same_day, sample.same_topic(language))
        contrast = _cosines(same_day, contrasts, sample.contrasting(language))
        same.append(float(np.quantile(said, 1 - _PARAPHRASES_KEPT)))
        refused += [
            float(np.quantile(different, _DIFFERENT_REFUSED)),
            float(np.quantile(contrast, _CONTRASTS_REFUSED)),
        ]
        figures[f"{language}_turn_same_median"] = float(np.median(said))
        figures[f"{language}_turn_same_day_same_median"] = float(
            np.median(_cosines(same_day, same_day, sample.same_statement(language)))
        )
        figures[f"{language}_turn_topic_refused"] = refused[-2]
        figures[f"{language}_turn_contrast_median"] = float(np.median(contrast))
        figures[f"{language}_turn_contrast_refused"] = refused[-1]
    redundant = max(min(same), *refused)
    for language in LANGUAGES:
        kept = _cosines(spread, spread, sample.same_statement(language)) >= redundant
        kept_same_day = _cosines(same_day, same_day, sample.same_statement(language)) >= redundant
        figures[f"{language}_paraphrases_kept"] = float(kept.mean())
        figures[f"{language}_paraphrases_kept_same_day"] = float(kept_same_day.mean())
    across = [_cosines(vectors, vectors, sample.other_language(same=False)) for vectors in (spread, same_day)]
    translated = _cosines(spread, spread, sample.other_language(same=True))
    contrasts_across = [
        _cosines(same_day, contrasts, sample.contrasting(language, other))
        for language, other in ((LANGUAGES[0], LANGUAGES[1]), (LANGUAGES[1], LANGUAGES[0]))
    ]
    cross_language = max(
        *(float(np.quantile(cosines, _DIFFERENT_REFUSED)) for cosines in across),
        *(float(np.quantile(cosines, _CONTRASTS_REFUSED)) for cosines in contrasts_across),
    )
    figures["translation_turn_median"] = float(np.median(translated))
    figures["translations_kept"] = float((translated >= cross_language).mean())
    translated_same_day = _cosines(same_day, same_day, sample.other_language(same=True))
    figures["translations_kept_same_day"] = float((translated_same_day >= cross_language).mean())
    talks = await _talks(embedder, generation, corrected, sample)
    boundary, figures["segment_boundary_accuracy"] = _window_cut(talks, LOOK_AHEAD)
    turn, figures["segment_turn_accuracy"] = _window_cut(talks, 1)
    return TurnFigures(
        language_means=means,
        redundant=_rounded(redundant),
        cross_language=_rounded(cross_language),
        segment_boundary=boundary,
        segment_turn=turn,
        figures=figures,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Corrected:
    generation: EmbeddingGeneration
    means: NDArray[np.float32]

    def of(self, plain: NDArray[np.float32], passages: Sequence[Passage]) -> NDArray[np.float32]:
        rows = [CARD_LANGUAGES.index(Language(passage.language)) for passage in passages]
        difference = plain - self.means[rows]
        corrected: NDArray[np.float32] = difference / np.linalg.norm(difference, axis=1, keepdims=True)
        return corrected


async def _plain(
    embedder: Embedder,
    generation: EmbeddingGeneration,
    passages: Sequence[Passage],
    *,
    speaker: str = "",
    days_apart: int = 0,
) -> NDArray[np.float32]:
    texts = [
        memory_unit_text(
            f"{speaker}: {passage.text}" if speaker else passage.text,
            _FIRST_DAY + timedelta(days=at * days_apart % 997),
            frozenset([Language(passage.language)]),
        )
        for at, passage in enumerate(passages)
    ]
    return generation.centre(await embedder.embed_passages(texts))


async def _talks(
    embedder: Embedder, generation: EmbeddingGeneration, corrected: "_Corrected", sample: CalibrationSample
) -> list[NDArray[np.float32]]:
    turns = [turn for talk in sample.dialogues for turn in talk]
    vectors = corrected.of(await _plain(embedder, generation, turns), turns)
    ends = np.cumsum([len(talk) for talk in sample.dialogues])[:-1]
    return np.split(vectors, ends)


def _window_cut(talks: Sequence[NDArray[np.float32]], ahead: int) -> tuple[float, float]:
    """Return (threshold, balanced accuracy) of parting windows inside a talk from those across the end of one."""
    inside = [
        _alike(talk[max(0, at - LOOK_BACK) : at], talk[at : at + ahead])
        for talk in talks
        for at in range(1, len(talk) - ahead + 1)
    ]
    across = [_alike(talk[-LOOK_BACK:], other[:ahead]) for talk in talks for other in talks if other is not talk]
    return _best_separation(np.array(inside), np.array(across))


def _alike(behind: NDArray[np.float32], ahead: NDArray[np.float32]) -> float:
    first, second = behind.mean(axis=0), ahead.mean(axis=0)
    return float(first @ second) / float(np.linalg.norm(first) * np.linalg.norm(second))


def _best_separation(above: NDArray[np.float64], below: NDArray[np.float64]) -> tuple[float, float]:
    """Return (threshold, balanced accuracy): the best cut between two samples of cosines."""
    candidates = np.unique(np.round(np.concatenate([above, below]), 3))
    found_above = 1 - np.searchsorted(np.sort(above), candidates) / above.size
    found_below = np.searchsorted(np.sort(below), candidates) / below.size
    accuracy = (found_above + found_below) / 2
    best = int(accuracy.argmax())
    return _rounded(candidates[best]), float(accuracy[best])


def _cosines(first: NDArray[np.float32], second: NDArray[np.float32], pairs: Pairs) -> NDArray[np.float32]:
    left, right = np.array(pairs).T
    cosines: NDArray[np.float32] = (first[left] * second[right]).sum(axis=1)
    return cosines


def _rounded(cosine: np.floating | float) -> float:
    return round(float(cosine), 3)
