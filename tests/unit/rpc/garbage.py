"""Requests as a broken or hostile peer may send them."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from google.protobuf.message import DecodeError, Message
from hypothesis import strategies as st

from rearview.domain.errors import RearviewError

M = TypeVar("M", bound=Message)


def mutated(sample: Message) -> st.SearchStrategy[bytes]:
    """Return a sample's bytes with some of them changed, or bytes of no meaning at all."""
    octets = sample.SerializeToString()
    changes = st.dictionaries(st.integers(0, len(octets) - 1), st.integers(0, 255), max_size=8)

    def changed(at: dict[int, int]) -> bytes:
        return bytes(at.get(index, octet) for index, octet in enumerate(octets))

    return st.one_of(changes.map(changed), st.binary(max_size=200))


def convert_or_refuse(kind: type[M], octets: bytes, convert: Callable[[M], object]) -> None:
    """Convert what parses as a message; only errors of the tree may come of it."""
    try:
        message = kind.FromString(octets)
    except DecodeError:
        return
    with suppress(RearviewError):
        convert(message)
