"""A TCP link that takes its time, for what happens when a server is far away or slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from tests.support.stack import DatabaseUrls


@asynccontextmanager
async def slow_database(database: DatabaseUrls, delay_seconds: float) -> AsyncIterator[DatabaseUrls]:
    """Yield a database as the services see it over a link that holds up each answer by `delay_seconds`."""
    there = urlsplit(database.service)
    assert there.hostname
    assert there.port
    async with slow_link(there.hostname, there.port, delay_seconds) as port:
        yield replace(database, service=database.service.replace(f":{there.port}/", f":{port}/"))


@asynccontextmanager
async def slow_link(host: str, port: int, delay_seconds: float) -> AsyncIterator[int]:
    """Yield a local port whose connections go to `host:port`; what comes back is held up by `delay_seconds`."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
        try:
            while data := await reader.read(65_536):
                await asyncio.sleep(seconds)
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(host, port)
        await asyncio.gather(pump(reader, back, 0.0), pump(there, writer, delay_seconds))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
