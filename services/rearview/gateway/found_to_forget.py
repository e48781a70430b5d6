"""Which of the hits of a query are meant when what it finds is to be forgotten."""

from rearview.v1 import recall_pb2

_SHARE_OF_BEST = 0.5
"""A recall fills its answer up with what is hardly related; nobody who asks to forget means that."""


def found_to_forget(answer: recall_pb2.RecallResponse) -> list[str]:
    """Return the names of the memories that are at least half as relevant as the best, best first. Turns that are not
    indexed yet have no memory and are not among them."""
    best = max((hit.score.relevance for hit in answer.hits), default=0.0)
    return [hit.memory.name for hit in answer.hits if hit.memory.name and hit.score.relevance >= _SHARE_OF_BEST * best]
