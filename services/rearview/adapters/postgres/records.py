"""Many rows in one parameter: values as the JSON that `json_to_recordset` reads."""

from collections.abc import Iterable, Mapping

import numpy as np
import orjson
from numpy.typing import NDArray

SPARSE_DIMENSION = 1_000_000_000
"""Keyword hashes lie below it; as declared by the search tables."""


def as_records(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as a JSON array of objects; ids and times as text, bytes as `\\x...`."""
    return orjson.dumps(list(rows), default=_text, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def vector_text(vector: NDArray[np.float32] | NDArray[np.float16]) -> str:
    """Return a (d,) vector as pgvector reads it."""
    return orjson.dumps(np.ascontiguousarray(vector, dtype=np.float32), option=orjson.OPT_SERIALIZE_NUMPY).decode()


def sparse_text(terms: Mapping[int, float]) -> str:
    """Return weights by keyword hash (from 1) as pgvector reads a sparse vector."""
    return "{" + ",".join([f"{term}:{terms[term]:.6g}" for term in sorted(terms)]) + f"}}/{SPARSE_DIMENSION}"


def float_bytes(vector: NDArray[np.float32]) -> bytes:
    """Return a (d,) vector as little-endian float32, the form of `bytea` columns."""
    return vector.astype("<f4").tobytes()


def floats_of(data: bytes) -> NDArray[np.float32]:
    """Return the vector of a `bytea` column: (d,) float32."""
    return np.frombuffer(data, dtype="<f4").astype(np.float32)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    raise TypeError(f"a {type(value).__name__} is not a value of a record")
