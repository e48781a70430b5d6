"""An embedder over sentence-transformers: any model it loads, by hub name or from a folder."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.length_batches import embed_by_length
from rearview.adapters.models.model_thread import ModelThread
from rearview.adapters.models.optional_packages import import_optional, limit_torch_threads
from rearview.adapters.models.text_checks import checked_text, checked_texts
from rearview.domain.embedding_errors import ModelMismatch
from rearview.domain.generation import EmbeddingGeneration, ModelCard, normalise_rows


class SentenceTransformersEmbedder:
    """Embeds with a `SentenceTransformer`, in float32, one batch at a time.

    The card's prompts are used; prompts stored with the model are ignored. A hub model is loaded
    at the card's revision.
    """

    def __init__(
        self,
        source: str,
        card: ModelCard,
        *,
        device: str = "cpu",
        threads: int = 1,
        max_batch_texts: int = 32,
        max_tokens: int = 512,
    ) -> None:
        """Load the model (seconds; a hub model is downloaded first).

        Args:
            source: a folder or a hub name.
            card: describes the model.
            device: where torch runs it, "cpu" or "cuda:0".
            threads: CPU threads of torch in this process.
            max_batch_texts: texts of one run.
            max_tokens: texts are cut here, or at the model's own limit if that is shorter.

        Raises:
            ModelNotInstalled: the extra `models` is not installed.
            ModelMismatch: the model's dimension is not the card's.
        """
        package = import_optional("sentence_transformers", extra="models")
        limit_torch_threads(threads)
        revision = None if Path(source).is_dir() else card.revision
        self._model = package.SentenceTransformer(source, device=device, revision=revision).float()
        self._model.max_seq_length = min(self._model.max_seq_length or max_tokens, max_tokens)
        dimension = self._model.get_embedding_dimension()
        if dimension != card.dimension:
            raise ModelMismatch(f"{source} makes vectors of {dimension} numbers, the card says {card.dimension}")
        self._generation = EmbeddingGeneration(card)
        self._max_batch_texts = max_batch_texts
        self._thread = ModelThread(card.model_name)

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        return self._generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32, rows L2-normalised; see `Embedder`."""
        return await embed_by_length(
            self._thread,
            partial(self._encode, self._generation.card.prompts.passage),
            checked_texts("texts", texts),
            dimension=self._generation.dimension,
            max_batch_texts=self._max_batch_texts,
        )

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; see `Embedder`."""
        checked = checked_text("text", text)
        prompt = self._generation.card.prompts.query
        rows = await self._thread.run(lambda: self._encode(prompt, [checked]), urgent=True)
        vector: NDArray[np.float32] = rows[0]
        return vector

    async def close(self) -> None:
        """End the worker thread."""
        await self._thread.close()

    def _encode(self, prompt: str, texts: list[str]) -> NDArray[np.float32]:
        encoded = self._model.encode(
            texts, prompt=prompt, batch_size=self._max_batch_texts, show_progress_bar=False, convert_to_numpy=True
        )
        return normalise_rows(np.asarray(encoded, dtype=np.float32))
