"""Where a key set is read: from a URL or from a file. Never more than 256 KiB of it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from rearview.domain.errors import Unavailable

MAX_BYTES = 256 * 1024
FETCH_SECONDS = 5.0

ReadKeySet = Callable[[], Awaitable[bytes]]
"""Returns the text of the key set. Raises: Unavailable."""


@asynccontextmanager
async def open_source(place: str, ca_file: Path | None) -> AsyncIterator[ReadKeySet]:
    """Yield what reads the key set at `place`, an http or https URL or else the path of a file.

    `ca_file` names the authorities (PEM) for an https URL; without it those of the system count.

    Raises:
        OSError: the authorities cannot be read.
    """
    if not place.startswith(("http://", "https://")):
        yield lambda: asyncio.to_thread(_read_file, Path(place))
        return
    authorities = ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    # A redirect would move the root of all trust to wherever it points.
    async with httpx.AsyncClient(verify=authorities, follow_redirects=False, timeout=FETCH_SECONDS) as client:
        yield lambda: _fetch(client, place)


async def _fetch(client: httpx.AsyncClient, url: str) -> bytes:
    try:
        async with asyncio.timeout(FETCH_SECONDS), client.stream("GET", url) as response:
            if response.status_code != httpx.codes.OK:
                raise _unreadable(f"the issuer answers with status {response.status_code}")
            document = bytearray()
            async for part in response.aiter_bytes():
                document += part
                if len(document) > MAX_BYTES:
                    raise _unreadable(f"they are longer than {MAX_BYTES} bytes")
            return bytes(document)
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, TimeoutError, OSError) as error:
        raise _unreadable("the issuer does not answer") from error


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            document = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _unreadable("their file cannot be read") from error
    if len(document) > MAX_BYTES:
        raise _unreadable(f"they are longer than {MAX_BYTES} bytes")
    return document


def _unreadable(why: str) -> Unavailable:
    return Unavailable(f"the keys of tokens cannot be read: {why}", dependency="jwks")
