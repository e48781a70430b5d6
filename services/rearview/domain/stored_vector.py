"""Vectors as they are stored: what eight-bit codes and one scale say, in half precision.

Half floats that lie on such a grid are kept in a cold segment by their codes alone, bit for bit; the vector index and
its copies in memory compare the same numbers. docs/decisions/0019-stored-vectors.md has what it costs and gains.
"""

import numpy as np
from numpy.typing import NDArray

_LARGEST_CODE = np.float32(127)


def stored_vector(vector: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return a (d,) vector as it is stored; one that lies on the grid already is returned as it is."""
    row: NDArray[np.float16] = decoded(*coded(vector.astype(np.float16)[None, :]))[0]
    return row


def coded(vectors: NDArray[np.float16]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the codes, (n, d), and the scales, (n,), that are nearest to (n, d) vectors."""
    values = vectors.astype(np.float32)
    # The largest of a row is a half float, so that the row's scale can be told from its decoded values again.
    scales = (np.abs(values).max(axis=1, initial=0.0) / _LARGEST_CODE).astype(np.float32)
    divisors = np.where(scales > 0, scales, np.float32(1))
    return np.rint(values / divisors[:, None]).astype(np.int8), scales


def decoded(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return the vectors of codes and scales, (n, d)."""
    halves: NDArray[np.float16] = (codes.astype(np.float32) * scales[:, None]).astype(np.float16)
    return halves
