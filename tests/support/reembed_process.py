"""The job of a re-embedding in a process of its own that may be killed.

`-m tests.support.reembed_process TENANT OPERATION`, configured as the lifecycle service.
"""

import asyncio
import sys
from uuid import UUID

from rearview.adapters.models.configured import ConfiguredEmbedders, configured_settings
from rearview.adapters.postgres.database import Database
from rearview.adapters.postgres.operations import PostgresOperations
from rearview.lifecycle.app import open_tiers, reembedding
from rearview.lifecycle.config import LifecycleConfig
from rearview.ports.clock import SystemClock


async def main(tenant: str, operation: str) -> None:
    """Carry the operation out."""
    config, clock = LifecycleConfig(), SystemClock()  # type: ignore[call-arg]  # the environment gives the arguments
    embedders = ConfiguredEmbedders(
        configured_settings(config.embedder, config.next_embedder, config.model_dir, None, None)
    )
    async with (
        Database(config.database_url.get_secret_value(), vectors=False) as database,
        open_tiers(config, database, clock) as tiers,
    ):
        reembedder = reembedding(config, database, tiers, embedders, clock)
        found = await PostgresOperations(database).get(UUID(tenant), UUID(operation))
        await reembedder.carry_out(UUID(tenant), found)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
