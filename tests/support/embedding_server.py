"""A real local HTTP server that answers the embeddings protocol, well or badly, as it is told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Vectors = Callable[[list[str]], list[list[float]]]


@dataclass(slots=True)
class Reply:
    """One scripted answer.

    Attributes:
        status: HTTP status.
        body: raw body, or None for the right answer.
        headers: further headers.
        stall: wait until the server is stopped before answering.
        drop: close the connection without an answer.
    """

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    stall: bool = False
    drop: bool = False


class EmbeddingServer:
    """Serves `url`; replies from the script first, then rightly. Records what it was asked."""

    def __init__(self, vectors: Vectors) -> None:
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self.asked = threading.Event()
        self._script: list[Reply] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    server.requests.append(asked)
                    server.authorizations.append(self.headers.get("Authorization"))
                    reply = server._script.pop(0) if server._script else Reply()
                server.asked.set()
                if reply.stall:
                    server._stopped.wait()
                if reply.stall or reply.drop:
                    self.close_connection = True
                    return
                body = reply.body if reply.body is not None else right_answer(vectors(asked["input"]))
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                """Keep test output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/embeddings"

    def script(self, *replies: Reply) -> None:
        """Set the next answers, in order."""
        with self._lock:
            self._script = list(replies)

    @contextmanager
    def running(self) -> Iterator["EmbeddingServer"]:
        """Serve in a thread until the block ends."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def right_answer(vectors: list[list[float]]) -> bytes:
    """Return the protocol's answer, entries in reverse order: only `index` tells which is which."""
    entries = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return json.dumps({"object": "list", "data": entries[::-1]}).encode()
