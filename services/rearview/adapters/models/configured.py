"""The models that a service is configured with, opened when they are needed."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from rearview.adapters.models.cards import load_card
from rearview.adapters.models.registry import EmbedderSettings, embedder_settings, open_embedder
from rearview.domain.errors import PreconditionFailed, invalid_field
from rearview.domain.generation import EmbeddingGeneration
from rearview.ports.embedder import Embedder


class ConfiguredEmbedders:
    """The `Embedders` port. Whoever made it closes it."""

    def __init__(self, settings: Mapping[str, EmbedderSettings]) -> None:
        """Take settings by the models' names in the configuration."""
        self._settings = settings
        self._open: dict[str, Embedder] = {}
        self._opening = asyncio.Lock()

    def generation(self, model: str) -> EmbeddingGeneration:
        """Return the generation of a configured model; see `Embedders.generation`."""
        if model not in self._settings:
            raise invalid_field(
                "model", f"is none of the configured models ({', '.join(self._settings)}); set REARVIEW_NEXT_EMBEDDER"
            )
        return _generation(self._settings[model])

    async def of(self, generation_id: str) -> Embedder:
        """Return the embedder of a generation; see `Embedders.of`."""
        async with self._opening:
            if generation_id not in self._open:
                for settings in self._settings.values():
                    if _generation(settings).generation_id == generation_id:
                        self._open[generation_id] = await asyncio.to_thread(open_embedder, settings)
                        break
                else:
                    raise PreconditionFailed(
                        f"no configured model makes vectors of generation {generation_id}; set REARVIEW_NEXT_EMBEDDER"
                    )
            return self._open[generation_id]

    async def close(self) -> None:
        """Close all models that were opened."""
        for embedder in self._open.values():
            await embedder.close()


def configured_settings(
    embedder: str, next_embedder: str | None, models_dir: Path, endpoint_url: str | None, endpoint_api_key: str | None
) -> dict[str, EmbedderSettings]:
    """Return the settings of the configured models by name, that of new vectors first.

    Raises:
        InvalidModelInput: there is no such kind of model.
    """
    names = [embedder] if next_embedder is None else [embedder, next_embedder]
    return {name: embedder_settings(name, models_dir, endpoint_url, endpoint_api_key) for name in names}


def _generation(settings: EmbedderSettings) -> EmbeddingGeneration:
    return EmbeddingGeneration(load_card(settings.model, settings.cards_dir))
