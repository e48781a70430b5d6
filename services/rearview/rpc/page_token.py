"""Page tokens (AIP-158): opaque, signed, and good only for the method and the request they were made for."""

import base64
import binascii
import hmac
import json
from hashlib import sha256

from rearview.domain.errors import InvalidPageToken

_SIGNATURE_BYTES = 16
_LONGEST_TOKEN = 4_096


def encode_page_token(key: bytes, method: str, request_fingerprint: bytes, after: tuple[str, ...]) -> str:
    """Return the token of the page after a position; empty when there is no such page."""
    if not after:
        return ""
    position = json.dumps(after, separators=(",", ":")).encode()
    signature = _signature(key, method, request_fingerprint, position)
    return base64.urlsafe_b64encode(signature + position).rstrip(b"=").decode()


def decode_page_token(key: bytes, method: str, request_fingerprint: bytes, token: str) -> tuple[str, ...]:
    """Return the position that a token stands for; none for the empty token.

    Raises:
        InvalidPageToken: it was not made with this key, by this method, for a request of this fingerprint.
    """
    if not token:
        return ()
    try:
        octets = base64.b64decode(token.encode("ascii") + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise _not_ours() from None
    signature, position = octets[:_SIGNATURE_BYTES], octets[_SIGNATURE_BYTES:]
    if len(token) > _LONGEST_TOKEN or not hmac.compare_digest(
        signature, _signature(key, method, request_fingerprint, position)
    ):
        raise _not_ours()
    return tuple(json.loads(position))


def _signature(key: bytes, method: str, request_fingerprint: bytes, position: bytes) -> bytes:
    # Each part is prefixed with its length, so that no two different triples give the same input.
    parts = (b"rearview page token", method.encode(), request_fingerprint, position)
    return hmac.new(key, b"".join(len(p).to_bytes(4, "big") + p for p in parts), sha256).digest()[:_SIGNATURE_BYTES]


def _not_ours() -> InvalidPageToken:
    return InvalidPageToken("the page token was not made by this method for this request")
