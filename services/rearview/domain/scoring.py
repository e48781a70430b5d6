"""The memory score: relevance weighed with recency, use and emotion.

    final = w_rel * relevance + w_time * exp(-ln2 * age / half_life)
          + w_freq * log1p(n) / log1p(cap) + w_emo * intensity

The lifecycle takes the same function, without relevance, for what a memory is worth.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from rearview.domain.errors import invalid_field

ACCESS_CAP = 100
"""Uses beyond this many count no more."""

HIGH_PRIORITY = 0.8
"""From here on a memory does not decay, as if it were pinned."""

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Profile:
    """How much each part counts. The weights lie in [0, 1] and add up to 1, and so a score lies in [0, 1]."""

    name: str
    relevance: float
    recency: float
    frequency: float
    emotion: float
    half_life: timedelta

    def __post_init__(self) -> None:
        weights = (self.relevance, self.recency, self.frequency, self.emotion)
        if min(weights) < 0.0 or abs(sum(weights) - 1.0) > _TOLERANCE:
            raise ValueError(f"the weights of a profile must not be negative and add up to 1, got {weights}")
        if self.half_life <= timedelta(0):
            raise ValueError(f"a half-life must be positive, got {self.half_life}")


ASSISTANT = Profile("assistant", 0.975, 0.01, 0.0075, 0.0075, timedelta(days=60))
"""By default recency decides between what is about as relevant: where the tenth hit of a question stands, at a relevance
of .2, all of it is worth a tenth of a standard deviation of the text scores."""
SUPPORT = Profile("support", 0.80, 0.12, 0.05, 0.03, timedelta(days=7))
TASK = Profile("task", 0.70, 0.30, 0.0, 0.0, timedelta(minutes=30))
LONG_TASK = Profile("long_task", 0.70, 0.30, 0.0, 0.0, timedelta(hours=4))

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (ASSISTANT, SUPPORT, TASK, LONG_TASK)}


@dataclass(frozen=True, slots=True)
class Standing:
    """What a memory brings along. `age` counts from the last write or read; `intensity` lies in [0, 1]."""

    age: timedelta
    access_count: int = 0
    intensity: float = 0.0
    pinned: bool = False
    priority: float = 0.5


@dataclass(frozen=True, slots=True)
class MemoryScore:
    """A score in [0, 1]: the sum of the parts, each in [0, 1], times the weights of `profile`."""

    total: float
    relevance: float
    recency: float
    frequency: float
    emotion: float
    profile: Profile


def profile_named(name: str) -> Profile:
    """Return a profile; the default one for an empty name. Raises: InvalidFields."""
    if not name:
        return ASSISTANT
    if name not in PROFILES:
        raise invalid_field("profile", f"there is no such profile; there are {', '.join(sorted(PROFILES))}")
    return PROFILES[name]


def memory_score(relevance: float, standing: Standing, profile: Profile = ASSISTANT) -> MemoryScore:
    """Return the score of a memory whose relevance, in [0, 1], is known."""
    recency = _recency(standing, profile.half_life)
    frequency = min(1.0, math.log1p(max(standing.access_count, 0)) / math.log1p(ACCESS_CAP))
    emotion = min(max(standing.intensity, 0.0), 1.0)
    total = (
        profile.relevance * relevance
        + profile.recency * recency
        + profile.frequency * frequency
        + profile.emotion * emotion
    )
    return MemoryScore(min(total, 1.0), relevance, recency, frequency, emotion, profile)


@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """What memories bring along, a row each: `age_seconds` (n,) float64, `access_count` (n,) int64, `intensity` and
    `priority` (n,) float64, `pinned` (n,) bool."""

    age_seconds: NDArray[np.float64]
    access_count: NDArray[np.int64]
    intensity: NDArray[np.float64]
    pinned: NDArray[np.bool_]
    priority: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MemoryScores:
    """The scores of many memories: what `MemoryScore` says of one, (n,) float64 each."""

    total: NDArray[np.float64]
    relevance: NDArray[np.float64]
    recency: NDArray[np.float64]
    frequency: NDArray[np.float64]
    emotion: NDArray[np.float64]


def memory_scores(relevance: NDArray[np.float64], standings: Standings, profile: Profile = ASSISTANT) -> MemoryScores:
    """Return the scores of memories whose relevance, (n,) in [0, 1], is known: what `memory_score` returns of each."""
    half_lives = np.maximum(standings.age_seconds / profile.half_life.total_seconds(), 0.0)
    recency = np.where(standings.pinned | (standings.priority >= HIGH_PRIORITY), 1.0, np.exp2(-half_lives))
    frequency = np.minimum(np.log1p(np.maximum(standings.access_count, 0)) / math.log1p(ACCESS_CAP), 1.0)
    emotion = np.clip(standings.intensity, 0.0, 1.0)
    total = (
        profile.relevance * relevance
        + profile.recency * recency
        + profile.frequency * frequency
        + profile.emotion * emotion
    )
    return MemoryScores(np.minimum(total, 1.0), relevance, recency, frequency, emotion)


def _recency(standing: Standing, half_life: timedelta) -> float:
    if standing.pinned or standing.priority >= HIGH_PRIORITY:
        return 1.0
    return math.exp(-math.log(2.0) * max(standing.age / half_life, 0.0))
