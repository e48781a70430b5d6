"""Streamable HTTP as it goes over the wire, for what a client library would hide: statuses, headers, broken streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import httpx

PROTOCOL = "2025-11-25"
JSON_AND_STREAM = {"Accept": "application/json, text/event-stream"}
TIMEOUT_SECONDS = 60.0
QUIET_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream; the data is None for an event without any."""

    id: str
    data: Any


class WireSession:
    """One session, opened by `initialize`."""

    def __init__(self, url: str, key: str, namespace: str = "default") -> None:
        self._url = url
        self.http = httpx.Client(
            headers={**JSON_AND_STREAM, "Authorization": f"Bearer {key}", "Rearview-Namespace": namespace},
            timeout=TIMEOUT_SECONDS,
        )
        answer = self.http.post(url, json=initialize())
        answer.raise_for_status()
        self.id = answer.headers["mcp-session-id"]
        self.http.headers.update({"Mcp-Session-Id": self.id, "Mcp-Protocol-Version": PROTOCOL})
        self.http.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}).raise_for_status()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def post(self, method: str, params: dict[str, Any], *, number: int) -> httpx.Response:
        """Send a request and read its answer to the end."""
        return self.http.post(self._url, json=request(method, params, number))

    def post_text(self, body: str) -> httpx.Response:
        """Send any text in a request's place and read the answer to the end."""
        return self.http.post(self._url, content=body.encode(), headers={"Content-Type": "application/json"})

    def post_and_leave(self, method: str, params: dict[str, Any], *, number: int) -> Event:
        """Send a request, read the first event of its stream, and drop the connection."""
        with self.http.stream("POST", self._url, json=request(method, params, number)) as answer:
            answer.raise_for_status()
            return next(events(answer))

    def first_line_of_silence(self) -> str:
        """Open the stream on which the server may speak by itself, and return what comes when it has nothing to say."""
        with self.http.stream("GET", self._url) as answer:
            answer.raise_for_status()
            return next(line for line in lines(answer) if line.startswith(":"))

    def resume(self, last_event_id: str) -> Event:
        """Return the first event that came after one."""
        with self.http.stream("GET", self._url, headers={"Last-Event-Id": last_event_id}) as answer:
            answer.raise_for_status()
            return next(event for event in events(answer) if event.data is not None)

    def resume_until_quiet(self, last_event_id: str) -> list[Event]:
        """Return all events that came after one, until nothing more comes."""
        found: list[Event] = []
        with self.http.stream(
            "GET", self._url, headers={"Last-Event-Id": last_event_id}, timeout=QUIET_SECONDS
        ) as answer:
            answer.raise_for_status()
            with suppress(httpx.ReadTimeout):
                found.extend(events(answer))
        return [event for event in found if event.data is not None]


def initialize(protocol: str = PROTOCOL) -> dict[str, Any]:
    """Return the request that opens a session."""
    client = {"name": "wire", "version": "1"}
    return request("initialize", {"protocolVersion": protocol, "capabilities": {}, "clientInfo": client}, 0)


def request(method: str, params: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def search(query: str) -> dict[str, Any]:
    """Return the parameters of a call of memory_search."""
    return {"name": "memory_search", "arguments": {"query": query}}


def events(answer: httpx.Response) -> Iterator[Event]:
    """Read the events of a stream."""
    identifier, data = "", ""
    for line in lines(answer):
        if line.startswith("id:"):
            identifier = line[3:].strip()
        elif line.startswith("data:"):
            data = line[5:].strip()
        elif not line and identifier:
            yield Event(identifier, json.loads(data) if data else None)
            identifier, data = "", ""


def lines(answer: httpx.Response) -> Iterator[str]:
    """Read the lines of a stream as its standard ends them; httpx would end one at every U+2028 of a text, too."""
    rest = ""
    for text in answer.iter_text():
        *whole, rest = (rest + text).split("\n")
        yield from (line.removesuffix("\r") for line in whole)
    if rest:
        yield rest
