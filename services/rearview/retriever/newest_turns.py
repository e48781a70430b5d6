"""What the user said a moment ago, and what no route can know of yet.

Until a turn is indexed it has no vector, so outside of its own session it is found by shared words alone: "my dog is
called Pixel" is not found by "what is my pet's name?". The newest such turns are candidates whatever their words,
behind all that was ranked. Those that no route has found do not enter the pool, so the others' scores and order are as
without them; those that one has found, by a word or in the session's working memory, may have too low a rank to be
returned for it, and are no less new.
"""

from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from rearview.domain.recall import Route, ScoreParts
from rearview.ports.recall_store import Found, Search
from rearview.retriever.candidates import Candidate, Scored

_UNRANKED = ScoreParts(total=0.0, relevance=0.0, keyword_score=0.0)


def newest_candidates(search: Search, found: Found, scored: Scored | None) -> list[Candidate]:
    """Return the newest unindexed turns of the user, latest first, with the scores that they have, if any."""
    units = frozenset(found.units.unit_ids)
    newest = [turn for turn in found.newest if turn.event_id not in units]
    ranked = scored.of_turns({turn.event_id for turn in newest}) if scored and newest else {}
    return [
        replace(ranked[turn.event_id], asked_for=True)
        if turn.event_id in ranked
        else Candidate(
            scope=search.scope,
            unit=None,
            turn=turn,
            routes=frozenset({Route.RAW_TURNS}),
            score=_UNRANKED,
            vector_z=None,
            asked_for=True,
        )
        for turn in newest
    ]


def ids_of(candidates: Collection[Candidate]) -> frozenset[UUID]:
    """Return the ids of candidates' units or events."""
    return frozenset(candidate.resource_id for candidate in candidates)
