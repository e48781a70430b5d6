"""Fingerprints of requests: the same request gives the same bytes, in every process."""

import hashlib
from typing import TypeVar

from google.protobuf.message import Message

M = TypeVar("M", bound=Message)


def fingerprint(request: Message) -> bytes:
    """Return the SHA-256 of a request without its request id (32 bytes)."""
    return _digest(request, "request_id")


def list_fingerprint(request: Message) -> bytes:
    """Return the SHA-256 of a list request without page size and page token: what all its pages share (32 bytes)."""
    return _digest(request, "page_size", "page_token")


def _digest(request: M, *left_out: str) -> bytes:
    bare = type(request)()
    bare.CopyFrom(request)
    for name in left_out:
        if name in bare.DESCRIPTOR.fields_by_name:
            bare.ClearField(name)
    # Map entries are sorted only in the deterministic form.
    octets = bare.SerializeToString(deterministic=True)
    return hashlib.sha256(bare.DESCRIPTOR.full_name.encode() + b"\0" + octets).digest()
