"""The default embedder: an int8 ONNX graph on onnxruntime, no torch."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rearview.adapters.models.e5_build import GRAPH_FILE, TOKENIZER_FILE, is_complete, read_manifest
from rearview.adapters.models.model_thread import ModelThread
from rearview.adapters.models.text_checks import checked_text, checked_texts
from rearview.domain.embedding_errors import InvalidModelInput, ModelMismatch, ModelNotInstalled
from rearview.domain.generation import EmbeddingGeneration, ModelCard

_ERRORS_ONLY = 3
_PADDING = "<pad>"


class OnnxEmbedder:
    """Embeds with a folder built by `build_e5`.

    A call is cut into batches of texts of about equal length, each within a token budget; every
    batch is a piece of work of its own, so a query waits for one batch, not for a whole call.
    """

    def __init__(self, folder: Path, card: ModelCard, *, threads: int = 1, max_batch_tokens: int = 2048) -> None:
        """Load graph and tokenizer (about a second).

        Args:
            folder: holds the graph, the tokenizer and their manifest.
            card: describes the model; its revision must be the folder's.
            threads: threads of one run; queries and batches share them.
            max_batch_tokens: bound of rows times longest row of one run.

        Raises:
            ModelNotInstalled: the folder is absent or damaged.
            ModelMismatch: the folder holds another model than the card describes.
            InvalidModelInput: `threads` or `max_batch_tokens` is not positive.
        """
        for field, value in (("threads", threads), ("max_batch_tokens", max_batch_tokens)):
            if value < 1:
                raise InvalidModelInput(field, f"must be at least 1, got {value}")
        manifest = read_manifest(folder)
        if manifest is None or not is_complete(folder):
            raise ModelNotInstalled(f"{folder} holds no complete ONNX model: build it anew")
        if manifest.revision != card.revision:
            raise ModelMismatch(f"{folder} holds revision {manifest.revision}, the card describes {card.revision}")
        self._generation = EmbeddingGeneration(card)
        self._session = onnxruntime.InferenceSession(
            str(folder / GRAPH_FILE), _session_options(threads), providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        self._padding_id = self._tokenizer.token_to_id(_PADDING)
        self._max_batch_tokens = max_batch_tokens
        dimension = self._session.get_outputs()[0].shape[1]
        if dimension != card.dimension:
            raise ModelMismatch(f"{folder} makes vectors of {dimension} numbers, the card says {card.dimension}")
        self._thread = ModelThread(card.model_name)

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        return self._generation

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) float32, rows L2-normalised; see `Embedder`."""
        prompt = self._generation.card.prompts.passage
        prompted = [prompt + text for text in checked_texts("texts", texts)]
        vectors = np.empty((len(prompted), self._generation.dimension), dtype=np.float32)
        if not prompted:
            return vectors
        token_ids = await self._thread.run(lambda: self._tokenise(prompted))
        for rows in self._batches([len(ids) for ids in token_ids]):
            batch = [token_ids[row] for row in rows]
            vectors[rows] = await self._thread.run(partial(self._infer, batch))
        return vectors

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (d,) float32, L2-normalised; see `Embedder`."""
        prompted = self._generation.card.prompts.query + checked_text("text", text)
        rows = await self._thread.run(lambda: self._infer(self._tokenise([prompted])), urgent=True)
        vector: NDArray[np.float32] = rows[0]
        return vector

    async def close(self) -> None:
        """End the worker thread."""
        await self._thread.close()

    def _tokenise(self, prompted: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch(prompted)]

    def _batches(self, lengths: list[int]) -> Iterator[list[int]]:
        """Yield row numbers, shortest texts first, so that padding is small."""
        batch: list[int] = []
        for row in sorted(range(len(lengths)), key=lengths.__getitem__):
            if batch and (len(batch) + 1) * lengths[row] > self._max_batch_tokens:
                yield batch
                batch = []
            batch.append(row)
        yield batch

    def _infer(self, token_ids: list[list[int]]) -> NDArray[np.float32]:
        longest = max(map(len, token_ids))
        input_ids = np.full((len(token_ids), longest), self._padding_id, dtype=np.int64)
        attention_mask = np.zeros_like(input_ids)
        for row, ids in enumerate(token_ids):
            input_ids[row, : len(ids)] = ids
            attention_mask[row, : len(ids)] = 1
        (vectors,) = self._session.run(["embedding"], {"input_ids": input_ids, "attention_mask": attention_mask})
        embedded: NDArray[np.float32] = vectors
        return embedded


def _session_options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # Threads that spin on between two requests would burn the other services' CPU.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    return options
