"""From ranked candidates with their content to hits and the context text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID
from zoneinfo import ZoneInfo

from rearview.domain.context_text import ContextEntry, ContextText, compose
from rearview.domain.duplicate_texts import first_of_each
from rearview.domain.event import Event
from rearview.domain.memory import Memory, MemoryState, MemoryType
from rearview.domain.recall import Highlight, Hit, RecallQuery
from rearview.domain.relevance import Floor
from rearview.domain.text import Language
from rearview.ports.recall_store import Loaded
from rearview.retriever.candidates import Candidate

MAX_HIGHLIGHTS = 3

FEWEST_WITH_NEWEST = 4
"""In shorter answers every place is worth more than a turn of which nothing is known but that it is new."""

BELOW_TOP_K = "below_top_k"
BELOW_FLOOR = "below_floor"
NEAR_DUPLICATE = "near_duplicate"
SAME_SOURCE = "same_source"
GONE = "gone"


@dataclass(frozen=True, slots=True)
class Content:
    """What a candidate says: its memory (None for a bare turn) and the turns behind it, the best match first.

    `successors` are the facts and turns that hold instead of an outdated turn."""

    memory: Memory | None
    turns: tuple[tuple[str, Event], ...]
    is_turn: bool
    successors: frozenset[UUID] = frozenset()

    @property
    def text(self) -> str:
        """The text that a reader, a reranker and the search for duplicates see."""
        if self.is_turn or self.memory is None:
            return self.turns[0][1].searchable_text if self.turns else ""
        return self.memory.content


@dataclass(frozen=True, slots=True)
class Group:
    """Candidates that make one hit, best first, each with its content."""

    candidates: tuple[Candidate, ...]
    contents: tuple[Content, ...]

    @property
    def best(self) -> Candidate:
        """The candidate by which the group stands where it does."""
        return self.candidates[0]


@dataclass(frozen=True, slots=True)
class Selection:
    """The groups that are returned, best first, and why the other candidates are not, by resource id."""

    groups: tuple[Group, ...]
    dropped: Mapping[UUID, str]


def content_of(candidate: Candidate, loaded: Loaded, *, inactive_too: bool) -> Content | None:
    """Return what a candidate says; None if it was forgotten or superseded since it was found."""
    if candidate.unit is None:
        found = loaded.turns.get(candidate.resource_id)
        return Content(None, (found,), is_turn=True) if found else None
    memory = loaded.memories.get(candidate.unit.memory_id)
    if memory is None or (memory.state is not MemoryState.ACTIVE and not inactive_too):
        return None
    sources = loaded.sources.get(candidate.unit.unit_id, ())
    is_turn = candidate.unit.unit_id != candidate.unit.memory_id
    if is_turn and not sources:
        return None
    return Content(memory, sources, is_turn, loaded.successors.get(candidate.unit.unit_id, frozenset()))


def select(
    ranked: Sequence[tuple[Candidate, Content]],
    *,
    top_k: int,
    by_memory: bool,
    floor: Floor,
    facts_apart: bool = False,
    newest: frozenset[UUID] = frozenset(),
) -> Selection:
    """Return the hits of candidates in order of rank: above the floor, each text once, at most `top_k`.

    A fact and a turn that states it take one place together, that of the better one, unless `facts_apart`. The last
    place of FEWEST_WITH_NEWEST or more is one of the `newest` turns', if there are any.
    """
    dropped: dict[UUID, str] = {}
    admitted = []
    told = _Told()
    for (candidate, content), is_first in zip(
        ranked, first_of_each(content.text for _, content in ranked), strict=True
    ):
        if not is_first:
            dropped[candidate.resource_id] = NEAR_DUPLICATE
        elif not floor.admits(
            relevance=candidate.score.relevance,
            keyword_score=candidate.score.keyword_score,
            vector_z=candidate.vector_z,
            rerank_score=candidate.score.rerank_score,
            asked_for=candidate.asked_for,
        ):
            dropped[candidate.resource_id] = BELOW_FLOOR
        elif not facts_apart and told.repeats(content):
            dropped[candidate.resource_id] = SAME_SOURCE
        else:
            told.add(content)
            admitted.append((candidate, content))
    groups: dict[UUID, list[tuple[Candidate, Content]]] = {}
    kept_free = top_k >= FEWEST_WITH_NEWEST and any(candidate.resource_id in newest for candidate, _ in admitted)
    for candidate, content in admitted:
        key = candidate.group_id if by_memory else candidate.resource_id
        places = top_k if candidate.resource_id in newest else top_k - kept_free
        if key not in groups and len(groups) >= places:
            dropped[candidate.resource_id] = BELOW_TOP_K
        else:
            groups.setdefault(key, []).append((candidate, content))
    return Selection(
        tuple(Group(tuple(c for c, _ in pairs), tuple(t for _, t in pairs)) for pairs in groups.values()), dropped
    )


class _Told:
    """Which turns, and which turns' facts, have a place already."""

    def __init__(self) -> None:
        self._turns: set[UUID] = set()
        self._of_facts: set[UUID] = set()

    def repeats(self, content: Content) -> bool:
        """Whether it is the fact of a turn that has a place, or the turn of a fact that has one."""
        sources = {event.event_id for _, event in content.turns}
        if content.is_turn:
            return not sources.isdisjoint(self._of_facts)
        return _is_fact(content) and not sources.isdisjoint(self._turns)

    def add(self, content: Content) -> None:
        sources = [event.event_id for _, event in content.turns]
        if content.is_turn:
            self._turns.update(sources)
        elif _is_fact(content):
            self._of_facts.update(sources)


def _is_fact(content: Content) -> bool:
    memory = content.memory
    return memory is not None and memory.fact is not None and memory.type is not MemoryType.SUMMARY


def hits_of(
    groups: Sequence[Group], query: RecallQuery, languages: frozenset[Language]
) -> tuple[tuple[Hit, ...], ContextText]:
    """Return the hits and the context that cites them."""
    language = Language.ZH if Language.ZH in languages else Language.EN
    context = compose(
        [_entry(group) for group in groups],
        budget=query.context_token_budget,
        language=language,
        zone=ZoneInfo(query.time_zone),
    )
    hits = tuple(_hit(group, citation) for group, citation in zip(groups, context.citations, strict=True))
    return hits, context


def _hit(group: Group, citation: str) -> Hit:
    return Hit(
        namespace=group.best.scope.namespace,
        memory=group.contents[0].memory,
        score=group.best.score,
        routes=frozenset(route for candidate in group.candidates for route in candidate.routes),
        highlights=_highlights(group),
        citation=citation,
    )


def _highlights(group: Group) -> tuple[Highlight, ...]:
    turns = {event.event_id: (session_id, event) for content in group.contents for session_id, event in content.turns}
    return tuple(Highlight(session_id, event) for session_id, event in list(turns.values())[:MAX_HIGHLIGHTS])


def _entry(group: Group) -> ContextEntry:
    first = group.contents[0]
    if not first.is_turn and first.memory is not None:
        return ContextEntry(
            first.memory.content, first.memory.occurred_at, whole=first.memory.type is MemoryType.EXPLICIT
        )
    highlights = _highlights(group)
    if len(highlights) == 1:
        event = highlights[0].event
        return ContextEntry(event.searchable_text, event.occurred_at, speaker=event.speaker)
    events = sorted(
        (highlight.event for highlight in highlights), key=lambda event: (event.occurred_at, event.sequence)
    )
    lines = [
        f"{event.speaker}: {event.searchable_text}" if event.speaker else event.searchable_text for event in events
    ]
    return ContextEntry("\n".join(lines), events[0].occurred_at)
