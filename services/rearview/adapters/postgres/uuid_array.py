"""Hundreds of ids as one parameter, without an object for each."""

from dataclasses import dataclass
from struct import Struct

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.rows import TupleRow

_OID_OF_UUID, _OID_OF_UUIDS = 2950, 2951
_EMPTY = Struct(">iii")
_HEADER = Struct(">iiIii")  # dimensions, whether any is NULL, what they are, how many, the first one's number
_SIZE_BEFORE_EACH = np.array([0, 0, 0, 16], dtype=np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class UuidArray:
    """Ids, (n, 16) uint8."""

    ids: NDArray[np.uint8]


class _UuidArrayDumper(Dumper):
    format = Format.BINARY
    oid = _OID_OF_UUIDS

    def dump(self, obj: UuidArray) -> bytes:
        count = len(obj.ids)
        if not count:
            return _EMPTY.pack(0, 0, _OID_OF_UUID)
        sized = np.empty((count, 20), dtype=np.uint8)
        sized[:, :4] = _SIZE_BEFORE_EACH
        sized[:, 4:] = obj.ids
        return _HEADER.pack(1, 0, _OID_OF_UUID, count, 1) + sized.tobytes()


def register_uuid_arrays(connection: AsyncConnection[TupleRow]) -> None:
    """Have a connection send them."""
    connection.adapters.register_dumper(UuidArray, _UuidArrayDumper)
