"""Memories made from turns: episodes that grow, and single turns of a forced kind."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.capture import CaptureDecision, origin_of, trust_of
from rearview.domain.event import Event
from rearview.domain.memory import MAX_ENTITIES, Memory, MemoryType, Origin, Trust
from rearview.domain.text import Entity
from rearview.domain.turn_text import line
from rearview.ports.analyzer import Analysis

CONFIDENCE = {Trust.TRUSTED: 1.0, Trust.DERIVED: 0.8, Trust.UNTRUSTED: 0.5}
"""How sure a memory starts out, by the trust in its origin."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptTurn:
    """A turn that becomes part of a memory. `plain`: (d,) float32, centred, L2-normalised; `topic`: the same, corrected
    for its language; `by_request` when a caller wants it remembered and its event stands for a text without a turn."""

    event: Event
    analysis: Analysis
    decision: CaptureDecision
    plain: NDArray[np.float32]
    topic: NDArray[np.float32]
    keywords: tuple[int, ...]
    speaker: int
    by_request: bool = False


def memory_of_turn(
    turn: KeptTurn, memory_id: UUID, memory_type: MemoryType, session_id: str, generation_id: str, now: datetime
) -> Memory:
    """Return the memory that a turn begins: an episode, or a memory of a forced kind, which stays one turn."""
    event, analysis = turn.event, turn.analysis
    trust = trust_of(event)
    as_line = memory_type is MemoryType.EPISODE or event.speaker
    return Memory(
        memory_id=memory_id,
        type=memory_type,
        content=line(event) if as_line else event.searchable_text,
        occurred_at=event.occurred_at,
        occurred_until=event.occurred_at,
        created_at=now,
        updated_at=now,
        origin=origin_of(event),
        trust=trust,
        entities=merged_entities((), analysis.entities),
        intent=analysis.intent,
        sentiment=analysis.sentiment,
        confidence=CONFIDENCE[trust],
        session_id=session_id,
        event_ids=((session_id, event.event_id),),
        languages=analysis.languages,
        generation_id=generation_id,
        redactions=event.redactions,
    )


def joined_by(episode: Memory, turn: KeptTurn, now: datetime) -> Memory:
    """Return the episode with one more turn; what it feels like is what its most moved turn feels like."""
    event, analysis = turn.event, turn.analysis
    trust = min(episode.trust, trust_of(event))
    moved = analysis.sentiment.intensity > episode.sentiment.intensity
    return replace(
        episode,
        content=f"{episode.content}\n{line(event)}",
        occurred_at=min(episode.occurred_at, event.occurred_at),
        occurred_until=max(episode.occurred_until or episode.occurred_at, event.occurred_at),
        updated_at=now,
        origin=Origin.USER if Origin.USER in (episode.origin, origin_of(event)) else episode.origin,
        trust=trust,
        entities=merged_entities(episode.entities, analysis.entities),
        sentiment=analysis.sentiment if moved else episode.sentiment,
        confidence=min(episode.confidence, CONFIDENCE[trust]),
        event_ids=(*episode.event_ids, (episode.session_id, event.event_id)),
        languages=episode.languages | analysis.languages,
        redactions=tuple(dict.fromkeys((*episode.redactions, *event.redactions))),
    )


def overlapping(episode: Memory, last_turn: Event) -> Memory:
    """Return an episode that begins with the last turn of the one before it."""
    return replace(
        episode,
        content=f"{line(last_turn)}\n{episode.content}",
        occurred_at=min(episode.occurred_at, last_turn.occurred_at),
        event_ids=((episode.session_id, last_turn.event_id), *episode.event_ids),
        redactions=tuple(dict.fromkeys((*last_turn.redactions, *episode.redactions))),
    )


def merged_entities(entities: Iterable[Entity], others: Iterable[Entity]) -> tuple[Entity, ...]:
    """Return each thing once, as it was first written, at most MAX_ENTITIES of them."""
    merged: dict[tuple[str, str], Entity] = {}
    for entity in (*entities, *others):
        merged.setdefault((entity.type.value, entity.canonical), entity)
    return tuple(merged.values())[:MAX_ENTITIES]
