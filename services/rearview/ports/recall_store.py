"""What recall needs of the store: candidates with their scores first, content only for what is returned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.cold import Segment
from rearview.domain.event import Event, EventRole
from rearview.domain.memory import Memory
from rearview.domain.principal import Scope
from rearview.domain.recall import MemoryFilter
from rearview.domain.search_unit import UnitFlag
from rearview.domain.translated_words import NO_TRANSLATION, TranslatedWords
from rearview.domain.unit_projection import NO_FLAGS
from rearview.ports.found_units import NO_UNITS, FoundUnits

_EVERYTHING = MemoryFilter()


@dataclass(frozen=True, slots=True)
class Generation:
    """A model generation whose vectors are searched. `same_cosine` is what its cosines of two texts that say the same
    begin at: what those of two models can be brought to one scale by."""

    ordinal: int
    generation_id: str
    dimension: int
    same_cosine: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What to look for in one namespace.

    Attributes:
        terms: keyword hashes of the query with their counts.
        translated: what the query's words may be called in the other language; texts of it are scored by that.
        languages: the query's own, as flags.
        keyword_route: whether indexed units are looked for and scored by them.
        vector: (d,) float32, centred, L2-normalised; None leaves the vector route out.
        folded_query: the query in lower case, in which speakers' names are looked for.
        entity_keys: canonical entities for the entity route.
        time_ranges: half-open stretches for the time route.
        filter: which memories may be returned.
        filter_entity_keys: canonical forms of the filter's entities.
        turn_roles: roles of turns that the filter's origins admit; None for all.
        raw_turns: whether the raw-turn route is on; a filter may rule it out.
        newest_since: from when on the user's newest unindexed turns are looked for, whatever their words; None for not.
        newest_limit: how many of them.
    """

    scope: Scope
    terms: Mapping[int, float]
    vector: NDArray[np.float32] | None
    folded_query: str
    now: datetime
    translated: TranslatedWords = NO_TRANSLATION
    languages: UnitFlag = NO_FLAGS
    keyword_route: bool = True
    entity_keys: tuple[str, ...] = ()
    time_ranges: tuple[tuple[datetime, datetime], ...] = ()
    filter: MemoryFilter = _EVERYTHING
    filter_entity_keys: tuple[str, ...] = ()
    turn_roles: frozenset[EventRole] | None = None
    raw_turns: bool = True
    as_of: datetime | None = None
    limit: int = 100
    newest_since: datetime | None = None
    newest_limit: int = 0

    def route_limit(self, statistics: "NamespaceStatistics") -> int:
        """Return how many units a route finds: one list a language where a namespace holds both."""
        both = statistics.chinese_units > 0 and statistics.english_units > 0
        return self.limit * (2 if both else 1)


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn found that no memory holds."""

    event_id: UUID
    session_id: str
    role: EventRole
    speaker: str
    occurred_at: datetime
    keyword_score: float


@dataclass(frozen=True, slots=True)
class NamespaceStatistics:
    """Counts for BM25 and for fusion. `speakers` are those whose names occur in the query, hash and name."""

    units: int = 0
    keyword_total: float = 0.0
    chinese_units: int = 0
    english_units: int = 0
    speakers: tuple[tuple[int, str], ...] = ()
    frequencies: Mapping[int, int] = field(default_factory=dict)

    @property
    def average_length(self) -> float:
        """Mean weight of a keyword bag; 0 when nothing is counted."""
        return self.keyword_total / self.units if self.units else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What one namespace holds for a query, hot and warm. `exact_vectors` is None when the vector route found nothing;
    `segments` are where its cold memories are, as of the same moment; `newest` are the user's newest unindexed turns,
    latest first."""

    units: FoundUnits = NO_UNITS
    turns: tuple[FoundTurn, ...] = ()
    newest: tuple[FoundTurn, ...] = ()
    statistics: NamespaceStatistics = NamespaceStatistics()
    exact_vectors: bool | None = None
    segments: tuple[Segment, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What to load of one namespace: units with their memories, and turns without. `as_of` decides which facts hold."""

    scope: Scope
    units: Mapping[UUID, UUID] = field(default_factory=dict)
    events: frozenset[UUID] = frozenset()
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Content, as it stands now: what was forgotten since the search is not in it.

    Attributes:
        memories: by id; of the chosen units' memories those that still exist, in any state but tombstoned.
        sources: the turns behind each unit, by unit id, oldest first, at most three, with their session.
        turns: the chosen turns that still are in no memory, with their session.
        successors: of turns that state facts that hold no more and none that holds, by event id: the facts that hold in
            their stead, and the turns that state those.
    """

    memories: Mapping[UUID, Memory]
    sources: Mapping[UUID, tuple[tuple[str, Event], ...]]
    turns: Mapping[UUID, tuple[str, Event]]
    successors: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexRecall:
    """Which share of the true 10 and 100 nearest units the vector index found, in [0, 1], of the lists that it answered
    (one for each language of a namespace of both), averaged."""

    at_10: float
    at_100: float


class RecallStore(Protocol):
    """Finds and loads, each in one round trip."""

    async def answering_generation(self, tenant_id: UUID, *, fresh: bool = False) -> Generation | None:
        """Return the generation that answers a tenant; None before anything was indexed.

        The answer may be half a minute old unless `fresh` is asked for.
        """
        ...

    async def generation_by_ordinal(self, ordinal: int) -> Generation | None:
        """Return a generation by its ordinal; None when there is none. Raises as `search`."""
        ...

    async def search(
        self, tenant_id: UUID, searches: Sequence[Search], generation: Generation | None, *, timeout_seconds: float
    ) -> list[Found]:
        """Run all routes in all namespaces; answers are in the order of `searches`.

        Raises:
            DeadlineExceeded: a statement took longer than `timeout_seconds`.
            Unavailable: the database does not answer.
        """
        ...

    async def load(
        self, tenant_id: UUID, chosen: Sequence[Chosen], *, with_metadata: bool, timeout_seconds: float
    ) -> list[Loaded]:
        """Load what was chosen, in order; the memories' metadata and events only if asked for. Raises as `search`."""
        ...

    async def anything_stored(self, tenant_id: UUID, namespace_ids: Sequence[UUID], *, timeout_seconds: float) -> bool:
        """Return whether any of the namespaces holds an active memory or a turn. Raises as `search`."""
        ...

    async def explain(
        self, tenant_id: UUID, searches: Sequence[Search], generation: Generation | None, *, timeout_seconds: float
    ) -> str:
        """Return the database's plans of the searches as text. Raises as `search`."""
        ...

    async def index_recall(
        self, tenant_id: UUID, search: Search, generation: Generation, *, timeout_seconds: float
    ) -> IndexRecall | None:
        """Compare the vector route with an exact search; None where it is exact anyway. Raises as `search`.

        Reads every vector of the namespace, so it is not for the path of a request.
        """
        ...
