"""Serves Rearview's default embedder in the manner of OpenAI's embeddings: `python -m loadtest.bench.embedding_endpoint
MODELS`, with the folder in which the model is, or is built.

So every contender gets the very vectors that Rearview has. The prompts stand in front of the texts, as the E5 models
want them; a text with neither is taken for a passage. The first line of the output is the base URL; it ends with its
input.
"""

import asyncio
import base64
import json
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.registry import DEFAULT_MODEL, EmbedderSettings, open_embedder
from rearview.ports.embedder import Embedder

Vectors = NDArray[np.float32]


async def embedded(embedder: Embedder, prompted: Sequence[str]) -> Vectors:
    """Return a row for each text, by the prompt in front of it."""
    prompts = embedder.generation.card.prompts
    rows = np.empty((len(prompted), embedder.generation.dimension), dtype=np.float32)
    passages = [at for at, text in enumerate(prompted) if not text.startswith(prompts.query)]
    for at, text in enumerate(prompted):
        if text.startswith(prompts.query):
            rows[at] = await embedder.embed_query(text.removeprefix(prompts.query))
    if passages:
        rows[passages] = await embedder.embed_passages([prompted[at].removeprefix(prompts.passage) for at in passages])
    return rows


def answer_of(rows: Vectors, encoding: str) -> bytes:
    """Return the protocol's answer; the encoding is "float" or "base64"."""
    entries = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode()
            if encoding == "base64"
            else row.tolist(),
        }
        for index, row in enumerate(rows)
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return json.dumps({"object": "list", "data": entries, "model": DEFAULT_MODEL, "usage": usage}).encode()


def endpoint(embedder: Embedder, loop: asyncio.AbstractEventLoop) -> ThreadingHTTPServer:
    """Return a server on a free port; the embedder works on `loop`, which runs in another thread."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer is one packet
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            rows = asyncio.run_coroutine_threadsafe(embedded(embedder, texts), loop).result()
            body = answer_of(rows, asked.get("encoding_format", "float"))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing of what was asked."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    return server


def main() -> None:
    """Serve until the input ends."""
    embedder = open_embedder(EmbedderSettings(kind="onnx", model=DEFAULT_MODEL, models_dir=Path(sys.argv[1])))
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    server = endpoint(embedder, loop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.shutdown()
    asyncio.run_coroutine_threadsafe(embedder.close(), loop).result()


if __name__ == "__main__":
    main()
