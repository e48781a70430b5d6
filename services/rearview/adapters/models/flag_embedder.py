"""An embedder over FlagEmbedding: BGE models and anything its classes load."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.length_batches import embed_by_length
from rearview.adapters.models.model_thread import ModelThread
from rearview.adapters.models.optional_packages import import_optional, limit_torch_threads
from rearview.adapters.models.text_checks import checked_text, checked_texts
from rearview.domain.embedding_errors import ModelMismatch
from rearview.domain.generation import EmbeddingGeneration, ModelCard, normalise_rows

FlagFamily = Literal["encoder-only-base", "encoder-only-m3"]
Pooling = Literal["cls", "mean"]


class FlagEmbedder:
    """Embeds with FlagEmbedding's encoders, one batch at a time; dense vectors only."""

    def __init__(
        self,
        source: str,
        card: ModelCard,
        *,
        family: FlagFamily = "encoder-only-base",
        pooling: Pooling = "cls",
        device: str = "cpu",
        threads: int = 1,
        max_batch_texts: int = 32,
        max_tokens: int = 512,
    ) -> None:
        """Load the model (seconds; a hub model is downloaded first).

        Args:
            source: a folder or a hub name.
            card: describes the model; its prompts are put in front of the texts.
            family: "encoder-only-m3" for bge-m3, else "encoder-only-base".
            pooling: "cls" for BGE, "mean" for E5.
            device: where torch runs it, "cpu" or "cuda:0"; half precision is used off the CPU.
            threads: CPU threads of torch in this process.
            max_batch_texts: texts of one run.
            max_tokens: texts are cut here.

        Raises:
            ModelNotInstalled: the extra `models` is not installed.
            ModelMismatch: the model's dimension is not the card's.
        """
        package = import_optional("FlagEmbedding", extra="models")
        limit_torch_threads(threads)
        self._model = package.FlagAutoModel.from_finetuned(
            source,
            model_class=family,
            pooling_method=pooling,
            query_instruction_format="{}{}",
            trust_remote_code=False,
            use_fp16=device != "cpu",
            devices=[device],
            batch_size=max_batch_texts + 1,  # a full batch would make it draw a progress bar
            passage_max_length=max_tokens,
        )
        self._model.model.float()
        dimension = self._model.model.config.hidden_size if family == "encoder-only-base" else card.dimension
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
        prompt = self._generation.card.prompts.passage
        return await embed_by_length(
            self._thread,
            self._encode,
            [prompt + text for text in checked_texts("texts", texts)],
            dimension=self._generation.dimension,
            max_batch_texts=self._max_batch_texts,
        )

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; see `Embedder`."""
        prompted = self._generation.card.prompts.query + checked_text("text", text)
        rows = await self._thread.run(lambda: self._encode([prompted]), urgent=True)
        vector: NDArray[np.float32] = rows[0]
        return vector

    async def close(self) -> None:
        """End the worker thread."""
        await self._thread.close()

    def _encode(self, prompted: list[str]) -> NDArray[np.float32]:
        encoded = self._model.encode(prompted)
        if isinstance(encoded, dict):  # bge-m3 answers dense, sparse and token vectors
            encoded = encoded["dense_vecs"]
        rows = np.asarray(encoded, dtype=np.float32)
        if rows.shape[1] != self._generation.dimension:
            raise ModelMismatch(
                f"the model makes vectors of {rows.shape[1]} numbers, the card says {self._generation.dimension}"
            )
        return normalise_rows(rows)
