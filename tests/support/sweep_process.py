"""A sweep, then an erasure of the memories that are named, in a process of its own that may be killed.

`-m tests.support.sweep_process NOW TENANT NAMESPACE [MEMORY...]`, configured as the lifecycle service.
"""

import asyncio
import sys
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from rearview.adapters.postgres.database import Database
from rearview.lifecycle.app import open_tiers
from rearview.lifecycle.config import LifecycleConfig
from tests.support.writer_fixtures import SetClock


async def main(now: str, tenant: str, namespace: str, *memories: str) -> None:
    """Sweep and erase once."""
    config = LifecycleConfig()  # type: ignore[call-arg]  # the environment gives the arguments
    clock = SetClock(datetime.fromisoformat(now))
    async with (
        Database(config.database_url.get_secret_value(), vectors=False) as database,
        open_tiers(config, database, clock) as tiers,
    ):

        async def nobody(_counts: Mapping[str, int]) -> None:
            return None

        if memories:
            await tiers.eraser.erase(UUID(tenant), UUID(namespace), [UUID(one) for one in memories])
        else:
            await tiers.sweeper.sweep(UUID(tenant), UUID(namespace), nobody)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
