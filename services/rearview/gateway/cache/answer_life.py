"""How long an answer lives, and what it was asked and found for."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np

from rearview.domain.addition import AskedIn, entity_hashes
from rearview.domain.principal import Caller
from rearview.domain.recall import RecallQuery
from rearview.gateway.embed_query import EmbeddedQuery
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.query_reader import QueryReader, ReadQuery
from rearview.v1 import recall_pb2

_NO_VECTOR = np.zeros(0, dtype=np.float32)


def expiry(answer: recall_pb2.RecallResponse, now: datetime, longest: timedelta) -> datetime:
    """Return until when an answer may be used: `longest`, or until the first of its memories expires."""
    ends = [hit.memory.expire_time.ToDatetime(tzinfo=UTC) for hit in answer.hits if hit.memory.HasField("expire_time")]
    return min([now + longest, *ends])


def asked_in(
    query: RecallQuery,
    read: ReadQuery,
    caller: Caller,
    vectors: Sequence[EmbeddedQuery],
    answer: recall_pb2.RecallResponse,
    noise_cosines: Mapping[int, float],
    hasher: KeywordHasher,
    reader: QueryReader,
) -> Mapping[UUID, AskedIn]:
    """Return what was looked for in each namespace, and the sessions that the answer depends on."""
    entities = {entity.canonical for entity in read.entities}
    entities |= {reader.canonical_entity(entity) for entity in query.filter.entities}
    sessions = _sessions(answer) | ({query.session_id} if query.session_id else set())
    return {
        reached.namespace_id: AskedIn(
            keywords=frozenset(hasher.keywords(reached.namespace_id, query.text)),
            entities=entity_hashes(reached.namespace_id, entities),
            has_times=bool(read.time_ranges),
            sessions=frozenset(sessions),
            vector=vectors[0].vector if vectors else _NO_VECTOR,
            # With two models in use the noise is the answering one's and the vectors may be the other's.
            noise_cosines=noise_cosines if len(vectors) < 2 else {},
        )
        for reached in caller.namespaces.values()
    }


def _sessions(answer: recall_pb2.RecallResponse) -> set[str]:
    """A namespace's sessions by id; that another namespace has one of the same id costs a miss at most."""
    names = [hit.memory.session for hit in answer.hits if hit.memory.session]
    for hit in answer.hits:
        names += [*hit.events, *hit.memory.events, *(highlight.event for highlight in hit.highlights)]
    parts = [name.split("/") for name in names]
    return {part[3] for part in parts if len(part) > 3 and part[2] == "sessions"}
