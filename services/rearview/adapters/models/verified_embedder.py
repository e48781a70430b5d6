"""Decorator: before the first answer, checks that the model is the one its card describes."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rearview.domain.embedding_errors import ModelMismatch
from rearview.domain.generation import EmbeddingGeneration
from rearview.ports.embedder import Embedder

SAME_MODEL_COSINE = 0.98
"""Least centred cosine of a probe. int8 and float32 runs of e5 agree at .991 or better; without
prompts its worst probe comes out at .89, with the two prompts swapped at .70."""


class VerifiedEmbedder:
    """Keeps vectors of a wrong model, wrong prompts or wrong pooling out of a generation's index.

    The check embeds the card's probes once, on the first call, so that a service can start
    while its endpoint is still down. Cards without probes are taken at their word.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._verified = inner.generation.card.probes is None
        self._verifying = asyncio.Lock()

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        return self._inner.generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32, rows L2-normalised; see `Embedder`.

        Raises:
            ModelMismatch: the model is not the one its card describes.
        """
        await self._verify()
        return await self._inner.embed_passages(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; see `Embedder`.

        Raises:
            ModelMismatch: the model is not the one its card describes.
        """
        await self._verify()
        return await self._inner.embed_query(text)

    async def close(self) -> None:
        """Close the model."""
        await self._inner.close()

    async def _verify(self) -> None:
        if self._verified:
            return
        async with self._verifying:
            if not self._verified:
                await _check_probes(self._inner)
                self._verified = True


async def _check_probes(embedder: Embedder) -> None:
    generation = embedder.generation
    probes = generation.card.probes
    if probes is None:
        return
    passages = await embedder.embed_passages(probes.texts)
    queries = np.stack([await embedder.embed_query(text) for text in probes.texts])
    for kind, found, expected in (("passage", passages, probes.passages), ("query", queries, probes.queries)):
        cosines = (generation.centre(found) * generation.centre(expected)).sum(axis=1)
        worst = float(cosines.min())
        if worst < SAME_MODEL_COSINE:
            raise ModelMismatch(
                f"the loaded model is not the {generation.card.model_name} of its card: "
                f"a {kind} probe has cosine {worst:.3f} with its recorded vector (weights, prompts or pooling differ)"
            )
