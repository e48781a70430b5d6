"""A real local HTTP server that answers the chat-completions protocol, well or badly, as it is told."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class ChatReply:
    """One scripted answer.

    Attributes:
        content: what the model writes: text, or an object to be written as JSON.
        status: HTTP status.
        body: raw body instead of a completion with `content`.
        headers: headers that replace or add to the usual ones; an empty value leaves a header out.
        finish_reason: why the model stopped.
        usage: token counts, None for none.
        stall_before: wait until the server is stopped before the first byte.
        stall_after_bytes: send so many bytes of the body, then wait until the server is stopped.
        drip_seconds: pause after each byte of the body.
        close_after_bytes: send so many bytes of the body, then close the connection.
        drop: close the connection without an answer.
        endless: send the body again and again, until the client hangs up.
    """

    content: str | Mapping[str, Any] | None = ""
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    usage: dict[str, Any] | None = None
    stall_before: bool = False
    stall_after_bytes: int | None = None
    drip_seconds: float = 0.0
    close_after_bytes: int | None = None
    drop: bool = False
    endless: bool = False

    def bytes(self) -> bytes:
        """The body."""
        if self.body is not None:
            return self.body
        content = self.content
        if isinstance(content, Mapping):
            content = json.dumps(content, ensure_ascii=False)
        message = {"role": "assistant", "content": content}
        completion: dict[str, Any] = {
            "id": "chat-1",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
        }
        if self.usage is not None:
            completion["usage"] = self.usage
        return json.dumps(completion).encode()


class ChatServer:
    """Serves `url`; replies from the script, then with `otherwise`. Records what it was asked.

    `refused_formats` are answered with status 400, without a step in the script.
    """

    def __init__(self, otherwise: ChatReply) -> None:
        self.otherwise = otherwise
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self.refused_formats: set[str] = set()
        self.most_at_once = 0
        self.asked = threading.Event()
        self.release = threading.Event()
        self._at_once = 0
        self._script: list[ChatReply] = []
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    server.requests.append(asked)
                    server.authorizations.append(self.headers.get("Authorization"))
                    server._at_once += 1
                    server.most_at_once = max(server.most_at_once, server._at_once)
                    reply = server._reply(asked)
                server.asked.set()
                try:
                    self._send(reply)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                finally:
                    with server._lock:
                        server._at_once -= 1

            def _send(self, reply: ChatReply) -> None:
                body = reply.bytes()
                if reply.stall_before:
                    server.release.wait()
                if reply.stall_before or reply.drop:
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                usual = {"Content-Type": "application/json; charset=utf-8", "Content-Length": str(len(body))}
                if reply.endless:
                    usual["Content-Length"] = str(1 << 40)
                for name, value in {**usual, **reply.headers}.items():
                    if value:
                        self.send_header(name, value)
                self.end_headers()
                while reply.endless and not server.release.is_set():
                    self.wfile.write(body)
                if reply.drip_seconds:
                    for at in range(len(body)):
                        self.wfile.write(body[at : at + 1])
                        if server.release.is_set():
                            break
                        time.sleep(reply.drip_seconds)
                    return
                cut = reply.stall_after_bytes if reply.stall_after_bytes is not None else reply.close_after_bytes
                self.wfile.write(body[:cut])
                if reply.stall_after_bytes is not None:
                    self.wfile.flush()
                    server.release.wait()
                if cut is not None:
                    self.close_connection = True

            def log_message(self, *_arguments: object) -> None:
                """Keep test output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/chat/completions"

    def script(self, *replies: ChatReply) -> None:
        """Set the next answers, in order."""
        with self._lock:
            self._script = list(replies)

    def transcripts(self) -> list[str]:
        """What was sent as data, request by request."""
        return [asked["messages"][1]["content"] for asked in self.requests]

    def _reply(self, asked: Mapping[str, Any]) -> ChatReply:
        form = asked.get("response_format", {}).get("type", "text")
        if form in self.refused_formats:
            return ChatReply(status=400, body=b'{"error": {"message": "unsupported"}}')
        return self._script.pop(0) if self._script else self.otherwise

    @contextmanager
    def running(self) -> Iterator["ChatServer"]:
        """Serve in a thread until the block ends."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self.release.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()
