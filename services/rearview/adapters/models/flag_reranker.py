"""A reranker over FlagEmbedding's FlagReranker (the bge-reranker family)."""

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.optional_packages import import_optional, limit_torch_threads
from rearview.adapters.models.rerank_budget import BudgetedScoring


class FlagReranker(BudgetedScoring):
    """Scores pairs with a cross-encoder that FlagEmbedding loads, by hub name or from a folder."""

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
            device: where torch runs it, "cpu" or "cuda:0"; half precision is used off the CPU.
            threads: CPU threads of torch in this process.
            max_batch_pairs: pairs scored between two looks at the budget.
            max_tokens: query and passage together are cut here.

        Raises:
            ModelNotInstalled: the extra `models` is not installed.
        """
        package = import_optional("FlagEmbedding", extra="models")
        limit_torch_threads(threads)
        self._model = package.FlagReranker(
            source,
            use_fp16=device != "cpu",
            devices=[device],
            batch_size=max_batch_pairs + 1,  # a full batch would make it draw a progress bar
            max_length=max_tokens,
            normalize=True,
        )
        super().__init__(name or source, self._scores_of, max_batch_pairs=max_batch_pairs)

    def _scores_of(self, pairs: list[tuple[str, str]]) -> NDArray[np.float32]:
        return np.atleast_1d(np.asarray(self._model.compute_score(pairs), dtype=np.float32))
