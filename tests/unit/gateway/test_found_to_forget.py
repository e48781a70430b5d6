from rearview.gateway.found_to_forget import found_to_forget
from rearview.v1 import memory_pb2, recall_pb2


def hit(name: str, relevance: float) -> recall_pb2.RecallHit:
    return recall_pb2.RecallHit(
        memory=memory_pb2.Memory(name=name) if name else None, score=recall_pb2.ScoreParts(relevance=relevance)
    )


def test_what_is_hardly_related_is_not_meant() -> None:
    hits = [hit("a", 0.3), hit("b", 0.15), hit("", 0.3), hit("c", 0.14)]
    assert found_to_forget(recall_pb2.RecallResponse(hits=hits)) == ["a", "b"]
    assert found_to_forget(recall_pb2.RecallResponse()) == []
