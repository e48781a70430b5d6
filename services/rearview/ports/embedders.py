"""The models that a service is configured with, by name and by generation."""

from typing import Protocol

from rearview.domain.generation import EmbeddingGeneration
from rearview.ports.embedder import Embedder


class Embedders(Protocol):
    """Models are opened when they are asked for first, and kept."""

    def generation(self, model: str) -> EmbeddingGeneration:
        """Return the generation of a configured model.

        Raises:
            InvalidFields: no such model is configured.
        """
        ...

    async def of(self, generation_id: str) -> Embedder:
        """Return the embedder whose vectors are a generation's.

        Raises:
            PreconditionFailed: no configured model makes them.
            ModelError: the model cannot be opened.
        """
        ...
