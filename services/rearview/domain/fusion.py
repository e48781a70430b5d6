"""Fusion of the routes: one score for each pooled unit, as a sum of named terms.

    S = z(bm25) + z(cosine) + 3 translation + 3 speaker + 2 time + 1.5 when + 4 role + 1 entity - 1.5 question
        + .7 answer + 1.5 said

z-scores are taken inside the pool of candidates, where both text scores are known for every unit. In a namespace that
holds Chinese and English those of the cosines are taken within each language: a multilingual model rates every text in
the query's own language above the answer in the other one. A turn that only asks is seldom what is looked for, the turn
after it often is, and a long turn more often than a short one. Weights were tuned on half of a public dialogue
benchmark and held on the other half; what was tried stands in docs/decisions/0004-ranking.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from rearview.domain.search_unit import UnitFlag, said_shares
from rearview.domain.text import TimeRange
from rearview.domain.unit_projection import NO_FLAGS

SPEAKER_WEIGHT = 3.0
TIME_WEIGHT = 2.0
WHEN_WEIGHT = 1.5
ROLE_WEIGHT = 4.0
ENTITY_WEIGHT = 1.0
QUESTION_WEIGHT = -1.5
ANSWER_WEIGHT = 0.7
SAID_WEIGHT = 1.5

TRANSLATION_WEIGHT = 3.0
TRANSLATION_FROM = 0.3
TRANSLATION_WHOLLY = 0.7
"""Shares of the query's translated words that a text of the other language says: of unrelated texts the best says .35,
a translation .7 (medians, statements)."""

TRANSLATION_STANDS_OUT_FROM = 1.0
TRANSLATION_STANDS_OUT_WHOLLY = 2.0
"""Deviations of its cosine among those of its language, below which words alone are chance. Recall, and so the cache of
answers, takes what is below the first for noise."""

DIALOGUE_VECTOR_WEIGHT = 1.5
"""A dialogue as the query holds many words beside the point; its vector tells more than they do."""

BEFORE_RANGE = timedelta(days=3)
AFTER_RANGE = timedelta(days=10)
"""What happened on a day is told on it, a little before, and often some days later."""

FEWEST_FOR_LANGUAGE = 5
"""With fewer units of a language in the pool, their own mean and deviation say nothing."""

FULL_SAMPLE = 20
BACKGROUND_DEVIATION = 0.06
"""A pool smaller than FULL_SAMPLE is filled up, for mean and deviation only, with units as they are everywhere: of no
shared word, and of cosines that spread by this much around the pool's median (measured between questions and unrelated
turns, on centred vectors of the default model). Otherwise the best of three could never be far above the rest."""

MISSING_SHARE = 0.5
"""A unit with one text score only is taken to have this share of its z in the other: the two go together, loosely."""

OTHER_LANGUAGE_SHARE = 1.5
UNMATCHED_OTHER_LANGUAGE_SHARE = 3.0
"""A text of the other language is taken to have at least this share of its vector's z as its keywords' z: where words
are shared, keywords spread that much wider than vectors between what is alike and what is meant. The larger share holds
where nothing in the query's own language matches its words; there, unrelated texts have nothing to be set before."""

UNMATCHED_BELOW = 0.5
MATCHED_FROM = 0.7
"""Shares of the query's keyword weight that its own language's best text scores: from the second one on it is what was
asked for (an order number with a word or two beside it scores .71 and more), below the first one it is not (a statement
whose translation is stored, .67 at the 95th percentile and .26 in the middle)."""

STANDS_OUT_FROM = 2.0
STANDS_OUT_WHOLLY = 2.8
"""Deviations of a text's cosine among those of its language: the best of unrelated texts reaches the first, what
says the same in the other language the second. Only what stands out gets the larger share."""

_SMALLEST_DEVIATION = 1e-6
_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The candidates of one namespace, a row each.

    Attributes:
        keyword: (n,) float64, BM25 against the query, 0 without a shared term.
        vector: (n,) float64, cosine to the query, NaN where there was nothing to compare.
        translation: (n,) float64, BM25 against what the query's words may be called in the other language, else 0.
        flags: (n,) int64, bits of UnitFlag.
        speaker: (n,) int64, hash of the speaker's name, 0 for none.
        occurred_at: (n,) float64, Unix seconds.
        voiced_by_user: (n,) bool, said by the user or distilled for them.
        entity_share: (n,) float64 in [0, 1], share of the query's entities that the unit's memory mentions.
    """

    keyword: Floats
    vector: Floats
    translation: Floats
    flags: NDArray[np.int64]
    speaker: NDArray[np.int64]
    occurred_at: Floats
    voiced_by_user: NDArray[np.bool_]
    entity_share: Floats


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """What the query asks for beside its words.

    Attributes:
        speakers: those of the namespace whom it names.
        languages: its own, as flags; with none, keywords count alike for every unit.
        both_languages: whether the namespace holds Chinese and English.
        keyword_mass: sum of the query's term counts times their inverse document frequencies; 0 when it is not known.
        translation_mass: what a text scores that says every translated word; see `TranslatedWords.mass`.
    """

    speakers: tuple[int, ...] = ()
    time_ranges: tuple[TimeRange, ...] = ()
    asks_when: bool = False
    languages: UnitFlag = NO_FLAGS
    both_languages: bool = False
    role_matters: bool = False
    is_dialogue: bool = False
    keyword_mass: float = 0.0
    translation_mass: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """`total` is (n,) float64, and the sum of `terms`, each (n,) float64; `vector_z`, (n,) too, is the vector's z,
    not weighed."""

    terms: Mapping[str, Floats]
    total: Floats
    vector_z: Floats


def fuse(pool: Pool, query: QueryFeatures) -> Fused:
    """Return the score of each unit of a pool and the terms it is the sum of."""
    groups = _language_groups(pool.flags) if query.both_languages else ()
    keyword, vector = _complete(
        _z_scores(pool.keyword, pool.flags, (), _unmatched), _z_scores(pool.vector, pool.flags, groups, _unrelated)
    )
    if query.both_languages:
        keyword = _across_languages(keyword, vector, pool, query)
    terms = {
        "keyword": keyword,
        "translation": TRANSLATION_WEIGHT * _says_translated(vector, pool, query),
        "vector": (DIALOGUE_VECTOR_WEIGHT if query.is_dialogue else 1.0) * vector,
        "speaker": SPEAKER_WEIGHT * _is_speaker(pool.speaker, query.speakers),
        "time": TIME_WEIGHT * _is_near(pool.occurred_at, query.time_ranges),
        "when": WHEN_WEIGHT * (query.asks_when * _has(pool.flags, UnitFlag.RESOLVABLE_TIME)),
        "role": ROLE_WEIGHT * (query.role_matters * pool.voiced_by_user.astype(np.float64)),
        "entity": ENTITY_WEIGHT * pool.entity_share,
        "question": QUESTION_WEIGHT * _has(pool.flags, UnitFlag.QUESTION),
        "answer": ANSWER_WEIGHT * _has(pool.flags, UnitFlag.ANSWER),
        "said": SAID_WEIGHT * said_shares(pool.flags),
    }
    total = np.zeros(len(pool.keyword), dtype=np.float64)
    for term in terms.values():
        total += term
    return Fused(terms, total, vector)


def widened(time_range: TimeRange) -> TimeRange:
    """Return the stretch of time in which what happened in a range may have been told."""
    start, end = time_range.start, time_range.end
    return TimeRange(
        start - BEFORE_RANGE if start - _FIRST_MOMENT > BEFORE_RANGE else _FIRST_MOMENT,
        end + AFTER_RANGE if _LAST_MOMENT - end > AFTER_RANGE else _LAST_MOMENT,
    )


def is_user_chat(pool: Pool) -> bool:
    """True if the pool comes from conversations of users with an assistant.

    There, what the user said answers most questions. Where the other side has names, it is a talk among people and
    both sides count alike.
    """
    if not len(pool.flags):
        return False
    others = ~pool.voiced_by_user
    return bool(others.any() and not (pool.speaker[others] != 0).any())


def _language_groups(flags: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(
        int(language)
        for language in (UnitFlag.CHINESE, UnitFlag.ENGLISH)
        if np.count_nonzero(flags & int(language)) >= FEWEST_FOR_LANGUAGE
    )


def _z_scores(
    values: Floats, flags: NDArray[np.int64], groups: tuple[int, ...], background: Callable[[Floats, int], Floats]
) -> Floats:
    overall = _z(values, background)
    if not groups:
        return overall
    summed = np.zeros(len(values), dtype=np.float64)
    memberships = np.zeros(len(values), dtype=np.float64)
    for group in groups:
        members = (flags & group) != 0
        summed[members] += _z(values[members], background)
        memberships += members
    # Mixed text belongs to both languages and takes the mean; text of neither is measured against everything.
    result: Floats = np.where(memberships > 0, summed / np.maximum(memberships, 1.0), overall)
    return result


def _z(values: Floats, background: Callable[[Floats, int], Floats]) -> Floats:
    known = values[~np.isnan(values)]
    if not len(known):
        return np.full(len(values), np.nan)
    if len(known) < FULL_SAMPLE:
        known = np.concatenate([known, background(known, FULL_SAMPLE - len(known))])
    deviation = float(known.std())
    if deviation < _SMALLEST_DEVIATION:
        level: Floats = np.where(np.isnan(values), np.nan, 0.0)
        return level
    result: Floats = (values - known.mean()) / deviation
    return result


def _unmatched(_known: Floats, count: int) -> Floats:
    return np.zeros(count, dtype=np.float64)


def _unrelated(known: Floats, count: int) -> Floats:
    level: Floats = np.median(known) + BACKGROUND_DEVIATION * (-1.0) ** np.arange(count)
    return level


def _complete(keyword: Floats, vector: Floats) -> tuple[Floats, Floats]:
    return (
        np.where(np.isnan(keyword), MISSING_SHARE * np.nan_to_num(vector), keyword),
        np.where(np.isnan(vector), MISSING_SHARE * np.nan_to_num(keyword), vector),
    )


def _across_languages(keyword: Floats, vector: Floats, pool: Pool, query: QueryFeatures) -> Floats:
    # A text of the other language cannot share words, so that it shares none says nothing. What it may share (numbers,
    # ids, names, words of neighbouring turns) still counts.
    if not query.languages:
        return keyword
    other = (pool.flags & int(query.languages)) == 0
    most = _other_language_share(pool.keyword[~other], query.keyword_mass)
    stands_out = _ramp(vector, STANDS_OUT_FROM, STANDS_OUT_WHOLLY)
    share = OTHER_LANGUAGE_SHARE + (most - OTHER_LANGUAGE_SHARE) * stands_out
    result: Floats = np.where(other, np.maximum(keyword, share * vector), keyword)
    return result


def _says_translated(vector: Floats, pool: Pool, query: QueryFeatures) -> Floats:
    if not query.both_languages or query.translation_mass <= 0.0:
        return np.zeros(len(vector), dtype=np.float64)
    said = _ramp(pool.translation / query.translation_mass, TRANSLATION_FROM, TRANSLATION_WHOLLY)
    result: Floats = said * _ramp(vector, TRANSLATION_STANDS_OUT_FROM, TRANSLATION_STANDS_OUT_WHOLLY)
    return result


def _ramp(values: Floats, start: float, end: float) -> Floats:
    """Return 0 up to `start`, 1 from `end` on, and what lies between in proportion."""
    result: Floats = np.clip((values - start) / (end - start), 0.0, 1.0)
    return result


def _other_language_share(own_keyword: Floats, mass: float) -> float:
    if mass <= 0.0:
        return OTHER_LANGUAGE_SHARE
    matched = float(own_keyword.max(initial=0.0)) / mass
    unmatched = min(max((MATCHED_FROM - matched) / (MATCHED_FROM - UNMATCHED_BELOW), 0.0), 1.0)
    return OTHER_LANGUAGE_SHARE + (UNMATCHED_OTHER_LANGUAGE_SHARE - OTHER_LANGUAGE_SHARE) * unmatched


def _is_speaker(speaker: NDArray[np.int64], named: tuple[int, ...]) -> Floats:
    # Two names in a question are asked about together, and either may have answered.
    if len(named) != 1:
        return np.zeros(len(speaker), dtype=np.float64)
    theirs: Floats = (speaker == named[0]).astype(np.float64)
    return theirs


def _is_near(occurred_at: Floats, ranges: tuple[TimeRange, ...]) -> Floats:
    near = np.zeros(len(occurred_at), dtype=np.bool_)
    for time_range in ranges:
        told = widened(time_range)
        near |= (occurred_at >= told.start.timestamp()) & (occurred_at < told.end.timestamp())
    return near.astype(np.float64)


def _has(flags: NDArray[np.int64], flag: UnitFlag) -> Floats:
    has: Floats = ((flags & int(flag)) != 0).astype(np.float64)
    return has
