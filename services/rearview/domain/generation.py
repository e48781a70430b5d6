"""An embedding generation: the identity of a vector space, and what was measured about it.

Vectors of two generations are never compared. Unrelated texts score about 0.8 on one model and
0.1 on another, so every similarity threshold belongs to the model and travels on its card.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rearview.domain.embedding_errors import InvalidModelInput
from rearview.domain.text import Language

FULL_PRECISION = "full"
"""Runtimes whose vectors stand for the float32 ones: float32, float16, int8 within cosine .99."""

CARD_LANGUAGES = (Language.ZH, Language.EN)
"""The rows of a card's `language_means`."""

_SMALLEST_NORM = 1e-6


@dataclass(frozen=True, slots=True)
class Prompts:
    """Texts put in front of every query and every passage before embedding; may be empty."""

    query: str
    passage: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of unsmoothed centred vectors, calibrated for one model.

    `duplicate_cosine` and `cache_cosine` compare plain vectors of one language; the others compare vectors corrected
    for their language (`EmbeddingGeneration.corrected`) of texts as turns are embedded, with their dates.

    None of them proves that two texts mean the same: a changed number or a negation scores
    above all of them. Decisions that destroy or skip something need a lexical check as well.

    Attributes:
        redundant_cosine: at or above, a new statement tells what is known already in the same language.
        duplicate_cosine: at or above, two texts are the same statement lightly edited.
        segment_boundary_cosine: below, the next two turns have another topic than the last three.
        cache_cosine: at or above (both vectors made with the query prompt), two queries may
            share an answer, if the cache's lexical guard agrees.
        segment_turn_cosine: below, the next turn, with none known after it, has another topic than the last three.
        cross_language_cosine: at or above, a new statement tells what is known already in the other language.
    """

    redundant_cosine: float
    duplicate_cosine: float
    segment_boundary_cosine: float
    cache_cosine: float
    segment_turn_cosine: float = -1.0
    cross_language_cosine: float = 1.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not -1.0 <= value <= 1.0:
                raise InvalidModelInput(name, f"a cosine lies in [-1, 1], not {value}")


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """Texts and the vectors the described model gave them, to recognise the model by.

    Attributes:
        texts: the probe texts.
        passages: (n, d) float32, raw vectors of the texts as passages.
        queries: (n, d) float32, raw vectors of the texts as queries.
    """

    texts: tuple[str, ...]
    passages: NDArray[np.float32] = field(repr=False)
    queries: NDArray[np.float32] = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("passages", "queries"):
            vectors = getattr(self, name)
            if vectors.ndim != 2 or vectors.shape[0] != len(self.texts):
                raise InvalidModelInput(name, f"expected one vector a text, got shape {vectors.shape}")


@dataclass(frozen=True, slots=True, eq=False)
class ModelCard:
    """What is known about one embedding model.

    Attributes:
        model_name: the name it is asked for by.
        revision: what pins the weights: a digest of the weights file, or a hub revision.
        dimension: length of a vector.
        prompts: the texts it was trained to see in front of queries and passages.
        mean_passage: (d,) float32, mean of L2-normalised passage vectors over Chinese and
            English text in equal parts; zeros mean "no centring".
        thresholds: calibrated similarity thresholds.
        probes: how to recognise the model, or None on a card that is still to be calibrated.
        precision_family: see `EmbeddingGeneration`.
        language_means: (2, d) float32, mean centred passage vector by language, in the order of CARD_LANGUAGES; None
            means "no correction". Stored vectors do not depend on it, so neither does the generation's id.
        normalisation: always "l2": vectors have length one before centring.
    """

    model_name: str
    revision: str
    dimension: int
    prompts: Prompts
    mean_passage: NDArray[np.float32] = field(repr=False)
    thresholds: Thresholds
    probes: Probes | None = None
    precision_family: str = FULL_PRECISION
    normalisation: str = "l2"
    language_means: NDArray[np.float32] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.model_name:
            raise InvalidModelInput("model_name", "must not be empty")
        if not self.revision:
            raise InvalidModelInput("revision", "must not be empty: it pins the weights")
        if self.normalisation != "l2":
            raise InvalidModelInput("normalisation", f"only 'l2' is supported, not {self.normalisation!r}")
        mean = np.array(self.mean_passage, dtype="<f4")
        if mean.shape != (self.dimension,):
            raise InvalidModelInput("mean_passage", f"shape {mean.shape} does not fit dimension {self.dimension}")
        if not np.isfinite(mean).all():
            raise InvalidModelInput("mean_passage", "holds a number that is not finite")
        if self.probes is not None and self.probes.passages.shape[1] != self.dimension:
            raise InvalidModelInput("probes", f"their vectors do not fit dimension {self.dimension}")
        if self.language_means is not None and self.language_means.shape != (len(CARD_LANGUAGES), self.dimension):
            raise InvalidModelInput(
                "language_means", f"shape {self.language_means.shape} does not fit dimension {self.dimension}"
            )
        mean.flags.writeable = False
        object.__setattr__(self, "mean_passage", mean)

    @classmethod
    def uncalibrated(cls, model_name: str, revision: str, dimension: int, prompts: Prompts) -> Self:
        """Return a card for a model nobody measured: no centring, and thresholds nothing passes.

        It exists to open the model once, in order to calibrate it.
        """
        return cls(
            model_name=model_name,
            revision=revision,
            dimension=dimension,
            prompts=prompts,
            mean_passage=np.zeros(dimension, dtype=np.float32),
            thresholds=Thresholds(1.0, 1.0, -1.0, 1.0),
        )


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingGeneration:
    """The vector space of one card, under a short stable id.

    The id covers everything that moves a vector: model, revision, dimension, prompts, mean and
    precision family. Thresholds are left out: recalibrating must not force re-embedding.

    A precision family holds runtimes whose vectors are interchangeable. int8 and float32 runs of
    the same weights are ONE family as long as their cosine stays above .99: that noise is below
    the distance between a text and its lightest edit, so an index written by one and queried by
    the other ranks alike, while a generation each would re-embed everything for a change of
    hardware. Coarser forms (binary, truncated) need a family name of their own.
    """

    card: ModelCard
    generation_id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "generation_id", _generation_id(self.card))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EmbeddingGeneration) and other.generation_id == self.generation_id

    def __hash__(self) -> int:
        return hash(self.generation_id)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.card.dimension

    @property
    def thresholds(self) -> Thresholds:
        """Calibrated thresholds, on plain centred vectors."""
        return self.card.thresholds

    def centre(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return `norm(v - mean)` of each row: (n, d) float32, rows L2-normalised.

        Raises:
            InvalidModelInput: the shape is not (n, d), or a row is the mean itself.
        """
        if vectors.ndim != 2 or vectors.shape[1] != self.dimension:
            raise InvalidModelInput("vectors", f"expected shape (n, {self.dimension}), got {vectors.shape}")
        return normalise_rows(vectors - self.card.mean_passage)

    def corrected(self, plain: NDArray[np.float32], languages: Sequence[frozenset[Language]]) -> NDArray[np.float32]:
        """Return centred vectors without what their language alone contributes: (n, d) float32, rows L2-normalised.

        A multilingual model sets all Chinese text apart from all English text, by more than what a text says. Texts
        of both languages, or of none, are corrected by the mean of both.

        Args:
            plain: (n, d) centred L2-normalised vectors.
            languages: of each text.
        """
        means = self.card.language_means
        if means is None or not len(plain):
            return plain
        known = [[at for at, language in enumerate(CARD_LANGUAGES) if language in one] for one in languages]
        return normalise_rows(plain - np.stack([means[rows or [0, 1]].mean(axis=0) for rows in known]))

    def centre_one(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return `norm(v - mean)` of one vector: (d,) float32, L2-normalised."""
        if vector.ndim != 1:
            raise InvalidModelInput("vector", f"expected shape ({self.dimension},), got {vector.shape}")
        row: NDArray[np.float32] = self.centre(vector[np.newaxis])[0]
        return row


def normalise_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows scaled to length one: (n, d) float32.

    Raises:
        InvalidModelInput: a row is not finite or too short to have a direction.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (lengths > _SMALLEST_NORM).all() or not np.isfinite(lengths).all():
        raise InvalidModelInput("vectors", "a row has no direction (zero length or not finite)")
    scaled: NDArray[np.float32] = rows / lengths
    return scaled


def _generation_id(card: ModelCard) -> str:
    described = json.dumps(
        [
            card.model_name,
            card.revision,
            card.dimension,
            card.prompts.query,
            card.prompts.passage,
            card.normalisation,
            card.precision_family,
        ],
        ensure_ascii=False,
    )
    digest = hashlib.sha256(described.encode() + b"\0" + card.mean_passage.tobytes())
    return digest.hexdigest()[:16]
