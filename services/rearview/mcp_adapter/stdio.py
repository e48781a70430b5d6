"""The stdio transport: a message a line, awaited in the event loop itself.

The SDK's own reads and writes in worker threads, which takes four changes of thread for each call, and passes over a
line that is no message without a word, so that a host waits for its answer until it gives up.
"""

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Of a request; a longer one is refused, without its id, which nobody has read."""
FLUSH_SECONDS = 2.0

_INPUT, _OUTPUT, _ERRORS = 0, 1, 2

Streams = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]


@asynccontextmanager
async def stdio_streams() -> AsyncIterator[Streams]:
    """Yield what the host sends and what is sent to it.

    While this is open, standard input is empty and standard output goes where errors go, for whoever prints. Terminals
    and files, which a person may use and an event loop cannot await, are left to the SDK.
    """
    if not (_is_pipe(_INPUT) and _is_pipe(_OUTPUT)):
        async with stdio_server() as streams:
            yield streams
        return
    source, sink = os.dup(_INPUT), os.dup(_OUTPUT)
    _divert()
    loop = asyncio.get_running_loop()
    reader, unread = asyncio.StreamReader(limit=MAX_LINE_BYTES), asyncio.StreamReader()
    incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb"))
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(unread), os.fdopen(sink, "wb")
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    outgoing = _Outgoing(writer)
    try:
        yield _Incoming(reader, outgoing), outgoing
    finally:
        incoming.close()
        writer.close()
        with suppress(OSError, TimeoutError):
            await asyncio.wait_for(writer.wait_closed(), FLUSH_SECONDS)


class _Stream:
    """Opened and closed by `stdio_streams`, whatever its users do."""

    async def aclose(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class _Outgoing(_Stream):
    """Messages to the host. Waits while it does not read."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, item: SessionMessage, /) -> None:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            self._writer.write(text.encode() + b"\n")
            await self._writer.drain()
        except OSError as error:
            raise anyio.BrokenResourceError from error


class _Incoming(_Stream):
    """Messages of the host, in order. A line that is none is answered here."""

    def __init__(self, reader: asyncio.StreamReader, outgoing: _Outgoing) -> None:
        self._reader = reader
        self._outgoing = outgoing

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            line = await self._line()
            if line == b"":
                raise StopAsyncIteration
            try:
                if line is None:
                    raise ValueError("too long")
                return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError:
                if line is None or line.strip():
                    with suppress(anyio.BrokenResourceError):
                        await self._outgoing.send(SessionMessage(refusal(line)))

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await anext(self)
        except StopAsyncIteration as end:
            raise anyio.EndOfStream from end

    async def _line(self) -> bytes | None:
        """Return the next line, None for one that is too long, nothing at the end."""
        too_long = False
        while True:
            try:
                line = await self._reader.readuntil()
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                too_long = True
            except asyncio.IncompleteReadError as error:
                return error.partial
            except OSError:
                return b""
            else:
                return None if too_long else line


def refusal(line: bytes | None) -> types.JSONRPCError:
    """Return the answer to a line that is no message of JSON-RPC; None is one that was too long to read."""
    if line is None:
        return _error(None, types.INVALID_REQUEST, f"a message has at most {MAX_LINE_BYTES} bytes")
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return _error(None, types.PARSE_ERROR, "expected a message of JSON-RPC 2.0 in one line of JSON, in UTF-8")
    of: Any = found.get("id") if isinstance(found, dict) else None
    known = of if isinstance(of, int | str) and not isinstance(of, bool) else None
    return _error(
        known,
        types.INVALID_REQUEST,
        'expected one message of JSON-RPC 2.0, {"jsonrpc": "2.0", "id": 1, "method": "...", "params": {...}}, in UTF-8',
    )


def _error(of: int | str | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=of, error=types.ErrorData(code=code, message=message))


def _is_pipe(number: int) -> bool:
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _divert() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _INPUT)
    os.close(nothing)
    os.dup2(_ERRORS, _OUTPUT)
