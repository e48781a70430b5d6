"""A running gateway for each test."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.model_fixtures import e5_folder, models_dir
from tests.support.running_gateway import RunningGateway, running_gateway
from tests.support.stack import DatabaseUrls

__all__ = ["e5_folder", "gateway", "models_dir"]


@pytest_asyncio.fixture
async def gateway(database: DatabaseUrls) -> AsyncIterator[RunningGateway]:
    """A gateway over a fresh database, with stand-ins of the services behind it."""
    async with running_gateway(database) as running:
        yield running
