"""Model generations in PostgreSQL."""

import json

from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import EmbeddingGenerationMismatch
from rearview.domain.generation import EmbeddingGeneration

_SQL = load_queries("generations")


async def register_generation(database: Database, generation: EmbeddingGeneration) -> int:
    """Register a generation, which makes its search tables, and return its ordinal. The first one becomes current.

    Raises:
        EmbeddingGenerationMismatch: another generation is current; vectors of two models are never mixed.
        Unavailable: PostgreSQL cannot be reached.
    """
    card, thresholds = generation.card, generation.thresholds
    described = {
        "model": card.model_name,
        "revision": card.revision,
        "prompts": {"query": card.prompts.query, "passage": card.prompts.passage},
        "precision_family": card.precision_family,
        "thresholds": {name: getattr(thresholds, name) for name in thresholds.__slots__},
    }
    async with database.transaction(None) as connection:
        registered = await connection.execute(
            _SQL["register"],
            {
                "generation_id": generation.generation_id,
                "model": card.model_name,
                "dimension": generation.dimension,
                "card": json.dumps(described),
            },
        )
        current = await connection.execute(_SQL["current"])
        row, current_row = await registered.fetchone(), await current.fetchone()
    if row is None or current_row is None or current_row[0] != generation.generation_id:
        raise EmbeddingGenerationMismatch(
            "the configured embedding model is not the one whose vectors are current; configure that one, or re-embed",
            expected=current_row[0] if current_row else "",
            actual=generation.generation_id,
        )
    return int(row[0])
