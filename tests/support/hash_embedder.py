"""An embedder small enough for tests of what stands around embedders: vectors of hashed character pairs."""

import asyncio
import hashlib
import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rearview.domain.generation import EmbeddingGeneration, ModelCard, Prompts, normalise_rows

DIMENSION = 32


class HashEmbedder:
    """Implements `Embedder`. `hang` makes queries wait for ever, `error` makes them fail."""

    def __init__(self, revision: str = "1") -> None:
        card = ModelCard.uncalibrated("hashed-pairs", revision, DIMENSION, Prompts("q: ", "p: "))
        self._generation = EmbeddingGeneration(card)
        self.queries: list[str] = []
        self.hang = False
        self.error: Exception | None = None
        self.closed = False

    @property
    def generation(self) -> EmbeddingGeneration:
        return self._generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([hashed_vector("p: " + text) for text in texts])

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        self.queries.append(text)
        if self.hang:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return hashed_vector("q: " + text)

    async def close(self) -> None:
        self.closed = True


def hashed_vector(text: str) -> NDArray[np.float32]:
    """Return (DIMENSION,) float32, L2-normalised, of a text with its prompt."""
    counts = np.zeros((1, DIMENSION), dtype=np.float32)
    for first, second in itertools.pairwise(text):
        digest = hashlib.sha256((first + second).encode()).digest()
        counts[0, digest[0] % DIMENSION] += 1.0 if digest[1] % 2 else -1.0
    counts[0, 0] += 0.5
    row: NDArray[np.float32] = normalise_rows(counts)[0]
    return row
