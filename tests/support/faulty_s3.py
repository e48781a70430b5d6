"""A proxy in front of a real S3 server that misbehaves as a test wants."""

import asyncio
import contextlib
import re
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from tests.support.stack import BucketAddress

_ENTRY = re.compile(rb"<(Version|DeleteMarker|Contents)>.*?</\1>", re.DOTALL)

WAYS = ("fails", "fails afterwards", "stalls", "resets", "truncates", "lies", "is stale")
"""503 without doing it, or having done it; no answer; a connection cut off; half of the answer; success without having
done it; a list as it was when nothing was stored yet."""


@dataclass(frozen=True, slots=True)
class _Request:
    head: bytes
    body: bytes

    @property
    def kind(self) -> str:
        """PUT, GET and DELETE of objects; LIST is a GET of the bucket."""
        method, target = self.head.split(b" ", 2)[:2]
        of_bucket = b"/" not in target.partition(b"?")[0].strip(b"/")
        return "LIST" if method == b"GET" and of_bucket else method.decode()


@dataclass(slots=True)
class FaultyS3:
    """`ways` says how which kind of request (PUT, GET, DELETE, LIST) goes wrong from now on; empty, none does. `met`
    counts those that did."""

    bucket: BucketAddress
    ways: dict[str, str] = field(default_factory=dict)
    met: int = 0

    def misbehave(self, kind: str, way: str) -> None:
        """Let requests of a kind go wrong in one way."""
        assert way in WAYS
        self.ways[kind] = way

    def heal(self) -> None:
        """Let everything go well again; raise if nothing had gone wrong."""
        assert self.met, "no request met the fault"
        self.ways.clear()
        self.met = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while (request := await _read(reader)) is not None:
                    if not await self._answer(request, writer):
                        break
        finally:
            await _closed(writer)

    async def _answer(self, request: _Request, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection goes on."""
        way = self.ways.get(request.kind, "")
        self.met += bool(way)
        if way == "stalls":
            await asyncio.sleep(3600)
        if way == "resets":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if way == "fails":
            answer = _answer_of(b"503 Service Unavailable")
        elif way == "lies":
            answer = _answer_of(b"204 No Content" if request.kind == "DELETE" else b"200 OK")
        else:
            answer = await self._forward(request)
        if way == "is stale":
            head, _, body = answer.partition(b"\r\n\r\n")
            answer = _with_length(head + b"\r\n\r\n" + _ENTRY.sub(b"", body))
        if way == "fails afterwards":
            answer = _answer_of(b"500 Internal Server Error")
        if way == "truncates":
            head, _, body = answer.partition(b"\r\n\r\n")
            answer = head + b"\r\n\r\n" + body[: len(body) // 2]
        writer.write(answer)
        await writer.drain()
        return way != "truncates"

    async def _forward(self, request: _Request) -> bytes:
        host, _, port = self.bucket.endpoint.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            # The signature covers some headers; this is not one of them. It lets the end of the answer be seen.
            head = request.head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
            writer.write(head + request.body)
            await writer.drain()
            answer = await reader.read()
        finally:
            await _closed(writer)
        return _with_length(answer)


@asynccontextmanager
async def faulty_s3(bucket: BucketAddress) -> AsyncIterator[tuple[FaultyS3, BucketAddress]]:
    """Yield a proxy, and the bucket behind it as its clients see it."""
    proxy = FaultyS3(bucket)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(proxy.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        yield proxy, replace(bucket, endpoint=f"127.0.0.1:{port}")
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def _read(reader: asyncio.StreamReader) -> _Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    size = _length(head)
    return _Request(head, await reader.readexactly(size) if size else b"")


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def _with_length(answer: bytes) -> bytes:
    """Return an answer that was read to its end, told with its length instead of in chunks."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    if b"transfer-encoding: chunked" in head.lower():
        body = _unchunked(body)
    dropped = (b"transfer-encoding:", b"connection:", b"content-length:")
    kept = [line for line in lines if not line.lower().startswith(dropped)]
    length = b"Content-Length: " + str(len(body)).encode()
    return b"\r\n".join([*kept, length]) + b"\r\n\r\n" + body


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        whole, body = whole + body[:length], body[length + 2 :]
        if not length:
            break
    return whole


def _answer_of(status: bytes) -> bytes:
    headers = b"" if status.startswith(b"204") else b'Content-Length: 0\r\nETag: "00000000000000000000000000000000"\r\n'
    return b"HTTP/1.1 " + status + b"\r\n" + headers + b"\r\n"
