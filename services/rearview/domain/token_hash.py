"""Numbers for keyword tokens, so that a bag of words can be kept as a sparse vector."""

from hashlib import blake2b
from uuid import UUID

MAX_TOKEN_HASH = 999_999_999
"""Indexes of `sparsevec(1000000000)` are 1-based and 32-bit."""


def token_hash(namespace_id: UUID, token: str) -> int:
    """A stable number in [1, MAX_TOKEN_HASH] for a token within a namespace: an index of a sparse vector.

    Changing it would orphan every stored keyword bag. Among 40,000 tokens of one
    namespace about one pair shares a number (n^2 / 2N); BM25 then adds their counts, which is harmless.
    """
    digest = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8, key=namespace_id.bytes).digest()
    return int.from_bytes(digest, "big") % MAX_TOKEN_HASH + 1
