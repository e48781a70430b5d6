"""What the user said a moment ago, and what no route can know of yet.

Until a turn is indexed it has no vector, so outside of its own session it is found by shared words alone: "my dog is
called Pixel" is not found by "what is my pet's name?". The newest such turns are candidates whatever their words,
behind all that was ranked. They do not enter the pool, so the others' scores and order are as without them.
"""

from collections.abc import Collection, Sequence
from uuid import UUID

from rearview.domain.event import Event
from rearview.domain.recall import Route, ScoreParts
from rearview.ports.recall_store import Found, Search
from rearview.retriever.candidates import Candidate

_UNRANKED = ScoreParts(total=0.0, relevance=0.0, keyword_score=0.0)


def newest_candidates(search: Search, found: Found, working: Sequence[tuple[str, Event]]) -> list[Candidate]:
    """Return the newest unindexed turns of the user, latest first, that no route has found."""
    if not found.newest:
        return []
    known: set[UUID] = {*found.units.unit_ids, *(turn.event_id for turn in found.turns)}
    known.update(event.event_id for _, event in working)
    return [
        Candidate(
            scope=search.scope,
            unit=None,
            turn=turn,
            routes=frozenset({Route.RAW_TURNS}),
            score=_UNRANKED,
            vector_z=None,
            asked_for=True,
        )
        for turn in found.newest
        if turn.event_id not in known
    ]


def ids_of(candidates: Collection[Candidate]) -> frozenset[UUID]:
    """Return the ids of candidates' units or events."""
    return frozenset(candidate.resource_id for candidate in candidates)
