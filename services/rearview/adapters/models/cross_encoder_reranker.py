"""A reranker over sentence-transformers' CrossEncoder."""

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.optional_packages import import_optional, limit_torch_threads
from rearview.adapters.models.rerank_budget import BudgetedScoring
from rearview.domain.embedding_errors import ModelMismatch


class CrossEncoderReranker(BudgetedScoring):
    """Scores pairs with a one-label cross-encoder, by hub name or from a folder."""

    def __init__(
        self,
        source: str,
        *,
        name: str | None = None,
        device: str = "cpu",
        threads: int = 1,
        max_batch_pairs: int = 8,
        max_tokens: int = 512,
    ) -> None:
        """Load the model (seconds; a hub model is downloaded first).

        Args:
            source: a folder or a hub name.
            name: what traces call it; by default the source.
            device: where torch runs it, "cpu" or "cuda:0".
            threads: CPU threads of torch in this process.
            max_batch_pairs: pairs scored between two looks at the budget.
            max_tokens: query and passage together are cut here.

        Raises:
            ModelNotInstalled: the extra `models` is not installed.
            ModelMismatch: the model classifies instead of scoring (more than one label).
        """
        package = import_optional("sentence_transformers", extra="models")
        limit_torch_threads(threads)
        self._sigmoid = import_optional("torch", extra="models").nn.Sigmoid()
        self._model = package.CrossEncoder(source, device=device, max_length=max_tokens)
        if self._model.num_labels != 1:
            raise ModelMismatch(f"{source} has {self._model.num_labels} labels; a reranker has one score")
        super().__init__(name or source, self._scores_of, max_batch_pairs=max_batch_pairs)

    def _scores_of(self, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
        scores = self._model.predict(pairs, batch_size=len(pairs), activation_fn=self._sigmoid, show_progress_bar=False)
        return np.asarray(scores, dtype=np.float32)
