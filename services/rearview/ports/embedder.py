"""The port to an embedding model."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rearview.domain.generation import EmbeddingGeneration


class Embedder(Protocol):
    """Turns texts into vectors of one generation.

    Vectors are raw: L2-normalised but not centred (`generation.centre` does that). A text's
    vector does not depend on the texts embedded beside it (within 1e-3 a component).
    """

    @property
    def generation(self) -> EmbeddingGeneration:
        """The vector space the answers live in."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of stored texts, in order: (n, d) float32, rows L2-normalised.

        Texts beyond the model's window are cut at its end. No texts give shape (0, d).

        Raises:
            InvalidModelInput: a text is blank.
            ModelUnavailable: the model cannot answer now; retry.
        """
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question: (d,) float32, L2-normalised. Overtakes passages.

        Raises:
            InvalidModelInput: the text is blank.
            ModelUnavailable: the model cannot answer now; retry.
        """
        ...

    async def close(self) -> None:
        """Release the model; later calls raise `ModelClosed`. Closing twice is harmless."""
        ...
