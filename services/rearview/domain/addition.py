"""Whether what was added to a namespace since can have changed an answer."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.fusion import FEWEST_FOR_LANGUAGE, FULL_SAMPLE
from rearview.domain.memory import Memory
from rearview.domain.search_unit import LANGUAGE_FLAGS, UnitFlag
from rearview.domain.token_hash import token_hash
from rearview.domain.unit_projection import SearchUnit, UnitProjection

MAX_ADDED_VECTORS = 16
MAX_ADDED_KEYWORDS = 2_048
"""What is larger is not noted, and counts as able to change any answer."""

_NOISE_Z = 0.8
"""Recall lets a text that shares no word with the query in from z = 1; the rest covers that additions move the mean and
the deviation a little."""
_LANGUAGES = (UnitFlag.CHINESE, UnitFlag.ENGLISH)
_NO_VECTORS = np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """What one transaction added to a namespace. `vectors`: (n, d) float32, of the units; bare turns have none yet.
    `languages`: the language flags of each vector's unit. `pending_to`: the sequence of the last turn that waits for
    indexing since; `indexed_to`: that of the last turn that no longer does. 0 where nothing was said or indexed."""

    session_id: str = ""
    keywords: frozenset[int] = frozenset()
    entities: frozenset[int] = frozenset()
    vectors: NDArray[np.float32] = field(default_factory=lambda: _NO_VECTORS)
    languages: tuple[int, ...] = ()
    pending_to: int = 0
    indexed_to: int = 0

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
        noise_cosines: by the flag of a language, below which a unit of it that shares neither word nor entity is not
            returned; where a language is missing, nothing is known.
    """

    keywords: frozenset[int]
    entities: frozenset[int]
    has_times: bool
    sessions: frozenset[str]
    vector: NDArray[np.float32]
    noise_cosines: Mapping[int, float]


def could_change(additions: Sequence[Addition], asked: AskedIn) -> bool:
    """Return whether an answer might be another one with all that was added to a namespace since.

    What the user said and nobody has indexed yet may be returned whatever its words; see `retriever/newest_turns.py`.
    """
    return _holds_pending_turns(additions) or any(_could_change(addition, asked) for addition in additions)


def _holds_pending_turns(additions: Sequence[Addition]) -> bool:
    indexed_to: dict[str, int] = {}
    for addition in additions:
        indexed_to[addition.session_id] = max(indexed_to.get(addition.session_id, 0), addition.indexed_to)
    return any(addition.pending_to > indexed_to[addition.session_id] for addition in additions)


def _could_change(addition: Addition, asked: AskedIn) -> bool:
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
    if asked.has_times or addition.vectors.shape[1] != asked.vector.shape[0]:
        return True
    if len(addition.languages) != len(addition.vectors):
        return True
    bounds = [_bound(flags, asked.noise_cosines) for flags in addition.languages]
    return bool((addition.vectors @ asked.vector >= np.array(bounds)).any())


def _bound(flags: int, noise_cosines: Mapping[int, float]) -> float:
    mine = [int(language) for language in _LANGUAGES if flags & language] or [0]
    return min(noise_cosines.get(language, -np.inf) for language in mine)


def addition_of(
    namespace_id: UUID,
    session_id: str,
    units: Sequence[SearchUnit],
    memories: Sequence[Memory],
    grown: Sequence[UnitProjection] = (),
    indexed_to: int = 0,
) -> Addition:
    """Return what new units, new or longer memories and `grown` units of older turns add to a namespace.

    Units whose windows grew are found by other words and another vector from now on; their languages are not at hand,
    so that they count as of either.
    """
    projections = [*(unit.projection for unit in units), *grown]
    return Addition(
        session_id=session_id,
        keywords=frozenset(term for projection in projections for term in projection.terms),
        entities=entity_hashes(namespace_id, {entity.canonical for memory in memories for entity in memory.entities}),
        vectors=np.array([projection.embedding for projection in projections], dtype=np.float32)
        if projections
        else _NO_VECTORS,
        languages=(*(int(unit.flags & LANGUAGE_FLAGS) for unit in units), *[int(LANGUAGE_FLAGS)] * len(grown)),
        indexed_to=indexed_to,
    )


def entity_hashes(namespace_id: UUID, keys: Collection[str]) -> frozenset[int]:
    """Return the hashes of canonical entities."""
    return frozenset(token_hash(namespace_id, f"entity:{key}") for key in keys)


def noise_cosines(pools: Iterable[tuple[NDArray[np.float64], NDArray[np.int64]]]) -> Mapping[int, float]:
    """Return the cosines below which a unit of a language without a shared word is noise in every namespace searched.

    `pools` holds, of each namespace, the cosines of what was found, (n,), NaN where there is none, and its flags, (n,).
    Fusion measures a cosine against all of its pool, or against those of its language, so the lesser of the two counts.
    A language is left out where a pool was too small to tell, or had too few units of it.
    """
    bounds: dict[int, list[float]] = {language: [] for language in (0, *map(int, _LANGUAGES))}
    for cosines, all_flags in pools:
        compared = ~np.isnan(cosines)
        values, flags = cosines[compared], all_flags[compared]
        for language, found in bounds.items():
            group = values[(flags & language) != 0] if language else values
            if len(values) < FULL_SAMPLE or len(group) <= FEWEST_FOR_LANGUAGE:
                found.append(-np.inf)
            else:
                found.append(min(_noise(values), _noise(group)))
    least = {language: min(found) for language, found in bounds.items() if found}
    return {language: bound for language, bound in least.items() if bound > -np.inf}


def _noise(cosines: NDArray[np.float64]) -> float:
    return float(cosines.mean() + _NOISE_Z * cosines.std())
