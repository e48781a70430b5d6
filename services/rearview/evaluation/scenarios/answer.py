"""What a step came to, in one shape for all calls, so that expectations are checked in one way."""

from __future__ import annotations

from dataclasses import dataclass, field

from rearview.domain.errors import InvalidFields, RearviewError
from rearview.v1 import forget_pb2, memory_pb2, memory_service_pb2, recall_pb2


@dataclass(slots=True)
class Answer:
    """`results` are the texts of each result, best or newest first; `fields` what else the answer says, lower case."""

    results: list[str] = field(default_factory=list)
    context: str = ""
    cited: str = ""
    fields: dict[str, object] = field(default_factory=dict)
    error: RearviewError | None = None

    @property
    def error_fields(self) -> list[str]:
        """The fields that the error names."""
        return [one.field for one in self.error.violations] if isinstance(self.error, InvalidFields) else []


def of_error(error: RearviewError) -> Answer:
    """Return what a call that failed came to."""
    return Answer(error=error)


def of_recall(response: recall_pb2.RecallResponse) -> Answer:
    """Return a recall's hits: content and highlights."""
    first = response.hits[0] if response.hits else None
    return Answer(
        results=["\n".join([hit.memory.content, *(h.text for h in hit.highlights)]) for hit in response.hits],
        context=response.context,
        cited="\n".join(highlight.text for highlight in first.highlights) if first else "",
        fields={
            **(_memory_fields(first.memory) if first else {}),
            "empty_reason": _word(recall_pb2.EmptyReason.Name(response.empty_reason), "EMPTY_REASON_"),
            "cached": response.cache.hit,
            "ranker": response.ranker,
            "degraded": sorted(response.degraded),
            "context_tokens": response.context_tokens,
        },
    )


def of_memories(memories: list[memory_pb2.Memory], **fields: object) -> Answer:
    """Return memories, with further fields of the answer."""
    first = _memory_fields(memories[0]) if memories else {}
    return Answer(results=[memory.content for memory in memories], fields={**first, **fields})


def of_texts(texts: list[str], **fields: object) -> Answer:
    """Return texts of turns."""
    return Answer(results=texts, fields=dict(fields))


def of_forgotten(receipt: forget_pb2.ForgetReceipt) -> Answer:
    """Return the names of the memories that a forget takes, or a restore gives back."""
    return of_texts(list(receipt.memories), state=_forget_state(receipt))


def of_receipt(receipt: forget_pb2.ForgetReceipt) -> Answer:
    """Return from which places a forget erased how much, in the order it did."""
    erased = sorted(receipt.places, key=lambda place: place.erase_time.ToNanoseconds())
    return of_texts([f"{place.place}={place.count}" for place in erased], state=_forget_state(receipt))


def of_trace(trace: recall_pb2.RecallTrace) -> Answer:
    """Return the query of a recall's trace and the names of its candidates, best first."""
    return of_texts([trace.query, *(candidate.resource_name for candidate in trace.candidates)])


def of_import(result: memory_service_pb2.ImportMemoriesResponse) -> Answer:
    """Return the counts of an import by name, its problems, and whether all of it was taken in."""
    counts = [f"{field.name}={getattr(result, field.name)}" for field in result.DESCRIPTOR.fields]
    return of_texts([*(count for count in counts if "_count=" in count), *result.problems], complete=result.complete)


def _memory_fields(memory: memory_pb2.Memory) -> dict[str, object]:
    return {
        "type": _word(memory_pb2.MemoryType.Name(memory.type), "MEMORY_TYPE_"),
        "state": _word(memory_pb2.MemoryState.Name(memory.state), "MEMORY_STATE_"),
        "tier": _word(memory_pb2.Tier.Name(memory.tier), "TIER_"),
        "origin": _word(memory_pb2.Origin.Name(memory.origin), "ORIGIN_"),
        "trust": _word(memory_pb2.Trust.Name(memory.trust), "TRUST_"),
        "redactions": sorted(memory.redactions),
    }


def _forget_state(receipt: forget_pb2.ForgetReceipt) -> str:
    return _word(forget_pb2.ForgetState.Name(receipt.state), "FORGET_STATE_")


def _word(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower()
