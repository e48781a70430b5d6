"""Where answers of recalls are kept for a while. Nothing acknowledged depends on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from rearview.domain.addition import AskedIn
from rearview.domain.canonical_query import CanonicalQuery
from rearview.ports.epochs import Epoch
from rearview.ports.working_memory import SessionKey

MAX_ANSWER_BYTES = 65_536
"""A larger entry is not kept."""


@dataclass(frozen=True, slots=True)
class AnswerKeys:
    """What an answer is kept under: `exact` stands for all of the request, `meaning` for all but the query's manner, or
    None where only the same words may have the answer. Keyed hashes: they say nothing of the query."""

    exact: str
    meaning: str | None


@dataclass(frozen=True, slots=True, eq=False)
class CachedAnswer:
    """An answer with what decides whether it is still one.

    Attributes:
        answer: the answer, serialised.
        query: the canonical words of its query.
        stored_at: when it was made.
        expires_at: when it may not be used any more.
        last_turn: the newest turn of working memory before it was made; empty without a session.
        epochs: of the namespaces searched, read before it was made.
        asked: what the query looked for, by namespace.
    """

    answer: bytes
    query: CanonicalQuery
    stored_at: datetime
    expires_at: datetime
    last_turn: str
    epochs: Mapping[UUID, Epoch]
    asked: Mapping[UUID, AskedIn]


@dataclass(frozen=True, slots=True, eq=False)
class CacheLook:
    """What is kept for a request. `last_turn` is that of the asking session now; empty without one."""

    exact: CachedAnswer | None
    similar: CachedAnswer | None
    last_turn: str


class AnswerCache(Protocol):
    """Both raise Unavailable when the store does not answer."""

    async def look(self, tenant_id: UUID, keys: AnswerKeys, session: SessionKey | None) -> CacheLook:
        """Return what is kept under a request's keys, and the newest turn of the session that asks."""
        ...

    async def keep(self, tenant_id: UUID, keys: AnswerKeys, answer: CachedAnswer) -> None:
        """Keep an answer until it expires; the tenant's entries that expire first make room."""
        ...
