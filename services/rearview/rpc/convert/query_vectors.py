"""A query's vectors between gateway and retriever."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from rearview.internal.v1 import retriever_service_pb2
from rearview.rpc.convert.violations import Violations

MAX_DIMENSION = 4_096


def query_vector_to_proto(generation_id: str, vector: NDArray[np.float32]) -> retriever_service_pb2.QueryVector:
    """Return the message of a centred, L2-normalised vector, shape (d,)."""
    return retriever_service_pb2.QueryVector(
        generation=generation_id, values=np.ascontiguousarray(vector, dtype="<f4").tobytes()
    )


def query_vectors_from_proto(
    vectors: Iterable[retriever_service_pb2.QueryVector], field: str
) -> Mapping[str, NDArray[np.float32]]:
    """Return the vectors by model generation, each (d,) float32.

    Raises:
        InvalidFields: one is not of 1 to 4,096 finite numbers, or a generation comes twice.
    """
    found = Violations()
    by_generation: dict[str, NDArray[np.float32]] = {}
    for index, message in enumerate(vectors):
        path = f"{field}[{index}]"
        if not message.generation or message.generation in by_generation:
            found.add(f"{path}.generation", "is required, and each may come once")
        if len(message.values) % 4 or not 4 <= len(message.values) <= 4 * MAX_DIMENSION:
            found.add(f"{path}.values", f"must be of 1 to {MAX_DIMENSION} float32")
            continue
        values = np.frombuffer(message.values, dtype="<f4").astype(np.float32, copy=False)
        if not np.isfinite(values).all():
            found.add(f"{path}.values", "must be finite numbers")
        by_generation[message.generation] = values
    found.raise_if_any()
    return by_generation
