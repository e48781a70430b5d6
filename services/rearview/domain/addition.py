"""Whether what was added to a namespace since can have changed an answer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.search_unit import LANGUAGE_FLAGS, UnitFlag
from rearview.domain.token_hash import token_hash

MAX_ADDED_VECTORS = 16
MAX_ADDED_KEYWORDS = 2_048
"""What is larger is not noted, and counts as able to change any answer."""

_NOISE_Z = 0.8
"""Recall lets a text that shares no word with the query in from z = 1; the rest covers that additions move the mean and
the deviation a little."""
_NO_VECTORS = np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """What one transaction added to a namespace. `vectors`: (n, d) float32, of the units; bare turns have none yet."""

    session_id: str = ""
    keywords: frozenset[int] = frozenset()
    entities: frozenset[int] = frozenset()
    vectors: NDArray[np.float32] = field(default_factory=lambda: _NO_VECTORS)

    @property
    def fits(self) -> bool:
        """Whether it is small enough to be noted."""
        return len(self.vectors) <= MAX_ADDED_VECTORS and len(self.keywords) <= MAX_ADDED_KEYWORDS


@dataclass(frozen=True, slots=True, eq=False)
class AskedIn:
    """What a query looked for in one namespace, and where it found its answer.

    Attributes:
        keywords: hashes of its keywords.
        entities: hashes of the entities it names.
        has_times: whether it names a time.
        sessions: those that a hit came from, and the one that asked.
        vector: (d,) float32, centred, L2-normalised; empty when there was none.
        noise_cosine: below, a unit that shares neither word nor entity is not returned; None if nothing is known.
    """

    keywords: frozenset[int]
    entities: frozenset[int]
    has_times: bool
    sessions: frozenset[str]
    vector: NDArray[np.float32]
    noise_cosine: float | None


def could_change(addition: Addition, asked: AskedIn) -> bool:
    """Return whether an answer might be another one with what was added.

    It might if the session that was added to is one of the answer's (its memories have grown, its turns' vectors have
    moved), if a word or entity is shared, or if a vector is not certainly below what recall lets in. A query without
    keywords finds the newest turns, whatever they say.
    """
    if not asked.keywords or addition.session_id in asked.sessions:
        return True
    if asked.keywords & addition.keywords or asked.entities & addition.entities:
        return True
    if not len(addition.vectors):
        return False
    if asked.has_times or asked.noise_cosine is None or addition.vectors.shape[1] != asked.vector.shape[0]:
        return True
    return bool((addition.vectors @ asked.vector).max() >= asked.noise_cosine)


def entity_hashes(namespace_id: UUID, keys: Collection[str]) -> frozenset[int]:
    """Return the hashes of canonical entities."""
    return frozenset(token_hash(namespace_id, f"entity:{key}") for key in keys)


def noise_cosine(cosines: Mapping[UUID, Sequence[tuple[float, int]]], full_sample: int) -> float | None:
    """Return the cosine below which a unit without a shared word is noise in each namespace that was searched.

    `cosines` holds, by namespace, the pool's cosines with the units' flags. Fusion measures a cosine against all of its
    pool, or against those of its language, so the least of these bounds counts. None when a pool was too small.
    """
    bounds: list[float] = []
    for pool in cosines.values():
        if len(pool) < full_sample:
            return None
        values = np.array([cosine for cosine, _ in pool], dtype=np.float64)
        flags = np.array([flag for _, flag in pool], dtype=np.int64)
        groups = [np.ones(len(values), dtype=np.bool_)]
        groups += [(flags & int(language)) != 0 for language in (UnitFlag.CHINESE, UnitFlag.ENGLISH)]
        groups.append((flags & int(LANGUAGE_FLAGS)) == 0)
        bounds += [
            float(values[group].mean() + _NOISE_Z * values[group].std()) for group in groups if np.count_nonzero(group)
        ]
    return min(bounds) if bounds else None
