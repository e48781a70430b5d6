"""How a segment's bytes are laid out: a header that says where its columns and blocks are, and checks of all of them.

    magic, size and CRC-32 of the header (uint32 each), header (JSON), columns, blocks

Columns lie side by side as raw little-endian numbers, each aligned, so that they are used where they are. The header
has the CRC-32 of them together; each block has one of its own, for it is read alone. Nothing is looked at before its
sum was compared.
"""

import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"RVCOLD02"
ALIGNMENT = 64
_PREFIX = struct.Struct("<8sII")
_NO_SEGMENT = "the index part of a segment cannot be read"


class SegmentDamaged(Exception):
    """Bytes that are no segment, or not the whole of one, or not as they were written."""


@dataclass(frozen=True, slots=True)
class Layout:
    """An index part that was read: its columns by name, where its blocks begin and the last one ends, and its facts."""

    columns: Mapping[str, NDArray[Any]]
    block_offsets: list[int]
    facts: Mapping[str, Any]


def laid_out(
    columns: Mapping[str, NDArray[Any]], blocks: Sequence[bytes], facts: Mapping[str, Any]
) -> tuple[bytes, tuple[int, ...]]:
    """Return the bytes of a segment, and where its blocks begin and the last one ends.

    Its header is salted: no two segments have the same bytes, so that a late retry cannot bring back an object that
    was purged.
    """
    directory, body, size = {}, [], 0
    for name, column in columns.items():
        data = np.ascontiguousarray(column).tobytes()
        directory[name] = [column.dtype.str, list(column.shape), size]
        body += [data, bytes(_aligned(len(data)) - len(data))]
        size += _aligned(len(data))
    lying = b"".join(body)
    ends = np.cumsum([0, *map(len, blocks)]).tolist()
    header = {**facts, "salt": os.urandom(16).hex(), "columns": directory, "size": size, "sum": zlib.crc32(lying)}
    text = json.dumps({**header, "blocks": ends}, separators=(",", ":")).encode()
    start = _aligned(_PREFIX.size + len(text))
    prefix = _PREFIX.pack(MAGIC, len(text), zlib.crc32(text))
    data = b"".join([prefix, text, bytes(start - _PREFIX.size - len(text)), lying, *blocks])
    return data, tuple(start + size + end for end in ends)


def read_layout(buffer: Any) -> Layout:
    """Return what an index part holds; `buffer` has at least that of the segment, and has to stay.

    Raises:
        SegmentDamaged: it was not written like this.
    """
    view = memoryview(buffer)
    if len(view) < _PREFIX.size:
        raise SegmentDamaged(_NO_SEGMENT)
    magic, length, expected = _PREFIX.unpack_from(view)
    text = view[_PREFIX.size : _PREFIX.size + length]
    if magic != MAGIC or zlib.crc32(text) != expected:
        raise SegmentDamaged(_NO_SEGMENT)
    header = json.loads(bytes(text))
    start = _aligned(_PREFIX.size + length)
    lying = view[start : start + header["size"]]
    if zlib.crc32(lying) != header["sum"]:
        raise SegmentDamaged(_NO_SEGMENT)
    columns = {
        name: np.ndarray(shape, np.dtype(kind), lying, offset)
        for name, (kind, shape, offset) in header["columns"].items()
    }
    return Layout(columns, [start + header["size"] + end for end in header["blocks"]], header)


def _aligned(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT
