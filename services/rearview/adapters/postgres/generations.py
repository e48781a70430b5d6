"""Model generations in PostgreSQL."""

import json
from uuid import UUID

from rearview.adapters.postgres.database import Connection, Database
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import EmbeddingGenerationMismatch
from rearview.domain.generation import EmbeddingGeneration

_SQL = load_queries("generations")


async def register_generation(database: Database, generation: EmbeddingGeneration) -> int:
    """Register the generation that a writer makes vectors of and return its ordinal. It becomes the current one if
    there was none, or if it answers all tenants that have memories.

    Raises:
        EmbeddingGenerationMismatch: another generation is current; vectors of two models are never mixed.
        Unavailable: PostgreSQL cannot be reached.
    """
    async with database.transaction(None) as connection:
        ordinal = await describe_generation(connection, generation)
    async with database.transaction(None) as connection:
        current = await (await connection.execute(_SQL["current"])).fetchone()
        if current is not None and current[0] != generation.generation_id:
            adopted = await (await connection.execute(_SQL["adopt"], {"ordinal": ordinal})).fetchone()
            current = None if adopted is not None and adopted[0] == 0 else current
    if current is not None and current[0] != generation.generation_id:
        raise EmbeddingGenerationMismatch(
            "the configured embedding model is not the one whose vectors are current; configure that one, or re-embed",
            expected=current[0],
            actual=generation.generation_id,
        )
    return ordinal


async def describe_generation(connection: Connection, generation: EmbeddingGeneration) -> int:
    """Make a generation known, with its search tables, in the caller's transaction; return its ordinal."""
    card, thresholds = generation.card, generation.thresholds
    described = {
        "model": card.model_name,
        "revision": card.revision,
        "prompts": {"query": card.prompts.query, "passage": card.prompts.passage},
        "precision_family": card.precision_family,
        "thresholds": {name: getattr(thresholds, name) for name in thresholds.__slots__},
    }
    place = {
        "generation_id": generation.generation_id,
        "model": card.model_name,
        "dimension": generation.dimension,
        "card": json.dumps(described),
    }
    row = await (await connection.execute(_SQL["register"], place)).fetchone()
    assert row is not None  # noqa: S101 -- a function's call has one row
    return int(row[0])


async def search_generations(connection: Connection) -> list[int]:
    """Return the ordinals of all generations that hold search units, the current one first. None is added before the
    caller's transaction has ended."""
    return [row[0] for row in await (await connection.execute(_SQL["ordinals"])).fetchall()]


async def answering_generation(connection: Connection, tenant_id: UUID) -> int | None:
    """Return the ordinal of the generation that answers a tenant's recalls; None before there is any."""
    row = await (await connection.execute(_SQL["answering"], {"tenant_id": tenant_id})).fetchone()
    return row[0] if row else None
