"""A TCP link to one server of a stack, in a process of its own: stopped it stalls, killed it cuts every connection.

`-m tests.support.soak.link --name postgres --port 5000 --data-dir D`
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from pathlib import Path

from rearview.embedded.paths import DataFolder
from rearview.embedded.ports_allocation import LOOPBACK
from rearview.embedded.private_files import read_json

CHUNK_BYTES = 262_144


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    writer.close()


async def serve(name: str, port: int, folder: DataFolder) -> None:
    """Forward connections for good, to wherever the stack's server of this name listens by then."""

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ports = read_json(folder.ports_file) or {}
        try:
            there, back = await asyncio.open_connection(LOOPBACK, int(str(ports[name])))
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(_pump(reader, back), _pump(there, writer))

    server = await asyncio.start_server(forward, LOOPBACK, port)
    await server.serve_forever()


def main() -> None:
    """Serve until a signal ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.name, arguments.port, DataFolder(arguments.data_dir)))


if __name__ == "__main__":
    main()
