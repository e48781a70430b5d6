"""What a recall asks for and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from uuid import UUID

from rearview.domain.event import Event, EventRole
from rearview.domain.memory import Memory, MemoryType, Origin

DEFAULT_TOP_K = 8
MAX_TOP_K = 100
MAX_QUERY_CHARACTERS = 4_096
MAX_DIALOGUE_TURNS = 64
DEFAULT_CONTEXT_TOKENS = 800
MAX_CONTEXT_TOKENS = 32_768
MAX_NAMESPACES = 16


class Route(IntEnum):
    """A way of finding candidates; the numbers are those of `rearview.v1.RecallRoute`."""

    VECTOR = 1
    KEYWORD = 2
    ENTITY = 3
    TIME = 4
    WORKING_MEMORY = 5
    RAW_TURNS = 6


class EmptyReason(IntEnum):
    """Why an answer is empty; the numbers are those of `rearview.v1.EmptyReason`."""

    NOT_EMPTY = 0
    NOTHING_STORED = 1
    FILTERED_OUT = 2
    BELOW_FLOOR = 3


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories may be returned; an empty condition holds always, all must hold."""

    types: frozenset[MemoryType] = frozenset()
    start: datetime | None = None
    end: datetime | None = None
    entities: tuple[str, ...] = ()
    session_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    origins: frozenset[Origin] = frozenset()

    @property
    def is_empty(self) -> bool:
        """True if it excludes nothing."""
        return self == MemoryFilter()


@dataclass(frozen=True, slots=True)
class QueryTurn:
    """A turn of a dialogue that is the query."""

    role: EventRole
    content: str


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A validated recall. Exactly one of `text` and `dialogue` is set."""

    text: str
    reference_time: datetime
    dialogue: tuple[QueryTurn, ...] = ()
    session_id: str = ""
    top_k: int = DEFAULT_TOP_K
    filter: MemoryFilter = MemoryFilter()
    as_of: datetime | None = None
    time_zone: str = "UTC"
    disabled_routes: frozenset[Route] = frozenset()
    rerank: bool = True
    rerank_weight: float = 0.7
    include_cold: bool = False
    no_cache: bool = False
    profile: str = ""
    group_by_memory: bool = False
    context_token_budget: int = DEFAULT_CONTEXT_TOKENS
    include_metadata: bool = False
    explain_plan: bool = False


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """A hit's score and what it is made of; `total` is the weighted sum of the four parts."""

    total: float
    relevance: float
    recency: float = 0.0
    frequency: float = 0.0
    emotion: float = 0.0
    relevance_weight: float = 1.0
    recency_weight: float = 0.0
    frequency_weight: float = 0.0
    emotion_weight: float = 0.0
    vector_similarity: float | None = None
    keyword_score: float | None = None
    rerank_score: float | None = None
    fusion_terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Highlight:
    """A turn that made a memory a hit."""

    session_id: str
    event: Event


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory found. `memory` is None for a turn that is not indexed yet; then the first highlight is the turn."""

    namespace: str
    memory: Memory | None
    score: ScoreParts
    routes: frozenset[Route]
    highlights: tuple[Highlight, ...] = ()
    citation: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer of a recall, best first. `noise_cosines`: see
    `domain.addition.noise_cosines`."""

    hits: tuple[Hit, ...]
    context: str
    context_tokens: int
    trace_id: UUID
    degraded: tuple[str, ...]
    ranker: str
    empty_reason: EmptyReason = EmptyReason.NOT_EMPTY
    cache_hit: bool = False
    cache_similarity: float = 0.0
    cache_age: timedelta = timedelta(0)
    noise_cosines: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TraceCandidate:
    """A candidate in a trace, with its fate."""

    resource_name: str
    routes: frozenset[Route]
    score: ScoreParts
    rank: int
    dropped_because: str = ""


@dataclass(frozen=True, slots=True)
class RecallTrace:
    """What a recall did, step by step. The query is redacted before it gets here."""

    trace_id: UUID
    query: str
    namespaces: tuple[str, ...]
    at: datetime
    understanding: Mapping[str, str]
    route_counts: Mapping[str, int]
    candidates: tuple[TraceCandidate, ...]
    degraded: tuple[str, ...]
    stage_milliseconds: Mapping[str, float]
    plan: str = ""
