"""An issuer of tokens: a real HTTP server that publishes the key set with which they are checked."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER = "https://login.example"
AUDIENCE = "rearview"
PATH = "/keys.json"


class Issuer:
    """Keys by their ids, and what is published of them. `answer` replaces the key set where it is set."""

    def __init__(self) -> None:
        self.private_keys: dict[str, Any] = {}
        self.published: list[dict[str, Any]] = []
        self.answer: tuple[int, bytes] | None = None
        self.requests = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"

    def new_key(self, key_id: str, algorithm: str = "RS256", *, publish: bool = True, **fields: Any) -> dict[str, Any]:
        """Make a key, publish it unless told otherwise, and return its public form."""
        private, public = _generated(algorithm)
        self.private_keys[key_id] = private
        jwk = {**public, "kid": key_id, "use": "sig", "alg": algorithm, **fields}
        if publish:
            self.published.append(jwk)
        return jwk

    def withdraw(self, key_id: str) -> None:
        """Publish a key no more."""
        self.published = [jwk for jwk in self.published if jwk["kid"] != key_id]

    def token(
        self,
        key_id: str = "first",
        algorithm: str = "RS256",
        *,
        headers: dict[str, Any] | None = None,
        without: tuple[str, ...] = (),
        **claims: Any,
    ) -> str:
        """Return a token that is good unless the claims say otherwise."""
        now = int(time.time())
        good = {"iss": ISSUER, "aud": AUDIENCE, "exp": now + 300, "iat": now, "sub": "agent", "roles": ["write"]}
        made = {name: value for name, value in {**good, **claims}.items() if name not in without}
        return jwt.encode(
            made, self.private_keys[key_id], algorithm=algorithm, headers={"kid": key_id, **(headers or {})}
        )


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """Serve an issuer with one RSA key, `first`, as long as the context lasts."""
    issuer = Issuer()
    issuer.new_key("first")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.requests += 1
            good = (200, json.dumps({"keys": issuer.published}).encode())
            status, body = (issuer.answer or good) if self.path == PATH else good
            self.send_response(status)
            self.send_header("Location", "/a/good/place")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _generated(algorithm: str) -> tuple[Any, dict[str, Any]]:
    if algorithm.startswith("ES"):
        private: Any = ec.generate_private_key(ec.SECP256R1())
        return private, ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    if algorithm == "EdDSA":
        private = ed25519.Ed25519PrivateKey.generate()
        return private, OKPAlgorithm.to_jwk(private.public_key(), as_dict=True)
    private = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    return private, RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
