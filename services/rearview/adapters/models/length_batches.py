"""Runs many texts through a model in batches of about equal length, so that padding is small."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.model_thread import ModelThread


async def embed_by_length(
    thread: ModelThread,
    encode: Callable[[list[str]], NDArray[np.float32]],
    texts: list[str],
    *,
    dimension: int,
    max_batch_texts: int,
) -> NDArray[np.float32]:
    """Return the vectors in the order of the texts: (n, d) float32.

    Each batch is a piece of work of its own, so urgent work gets in between.
    """
    vectors = np.empty((len(texts), dimension), dtype=np.float32)
    by_length = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    for start in range(0, len(texts), max_batch_texts):
        rows = by_length[start : start + max_batch_texts]
        vectors[rows] = await thread.run(partial(encode, [texts[row] for row in rows]))
    return vectors
