"""One round of sealing in a process of its own that may be killed.

`-m tests.support.seal_process NOW`, configured as the lifecycle service.
"""

import asyncio
import sys
from datetime import datetime

from rearview.adapters.postgres.database import Database
from rearview.lifecycle.app import audit_sealing, open_tiers
from rearview.lifecycle.config import LifecycleConfig
from rearview.telemetry.metrics import Metrics
from tests.support.writer_fixtures import SetClock


async def main(now: str) -> None:
    """Seal once."""
    config = LifecycleConfig()  # type: ignore[call-arg]  # the environment gives the arguments
    clock = SetClock(datetime.fromisoformat(now))
    async with (
        Database(config.database_url.get_secret_value(), vectors=False) as database,
        open_tiers(config, database, clock) as tiers,
    ):
        sealing = audit_sealing(config, database, tiers.objects, clock, Metrics("lifecycle"))
        assert sealing is not None
        await sealing.sealer.seal()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
