"""The echo guard: what recall handed out and a transcript brings back is not stored again; the rest of the turn is."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace

from rearview.domain.echo import candidate_hashes, without_echoes
from rearview.domain.errors import Unavailable
from rearview.domain.event import Event
from rearview.ports.clock import Clock
from rearview.ports.handed_out import HandedOut
from rearview.ports.session_index import PendingEvents


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn as it counts for memory: without its echoes. `echoed` is how many pieces were taken out of it."""

    event: Event
    echoed: int = 0

    @property
    def nothing_else(self) -> bool:
        """Whether the turn said nothing but what had been recalled."""
        call = self.event.tool_call
        return self.echoed > 0 and not self.event.content and not (call and call.result)


class EchoGuard:
    """Takes echoes out of pending turns. With Redis away none is: storing one costs less than losing a turn."""

    def __init__(self, handed_out: HandedOut, clock: Clock) -> None:
        self._handed_out = handed_out
        self._clock = clock

    async def heard(self, pending: PendingEvents) -> list[Heard]:
        """Return the pending turns without what was handed out before they were stored."""
        events = pending.events
        if not events:
            return []
        candidates = await asyncio.to_thread(lambda: [_candidates(event) for event in events])
        asked = frozenset().union(*candidates)
        session = pending.session
        known: dict[str, float] = {}
        with suppress(Unavailable):
            found = await self._handed_out.known(session.tenant_id, session.namespace_id, asked, now=self._clock.now())
            known = {one: at.timestamp() for one, at in found.items()}
        if not known:
            return [Heard(event) for event in events]
        return [_without(event, own, known) for event, own in zip(events, candidates, strict=True)]


def _candidates(event: Event) -> frozenset[str]:
    hashes = candidate_hashes(event.content)
    return hashes | candidate_hashes(event.tool_call.result) if event.tool_call else hashes


def _without(event: Event, candidates: frozenset[str], known: dict[str, float]) -> Heard:
    # What was handed out after the turn was stored may have come from the turn itself.
    stored_at = event.created_at.timestamp() if event.created_at else float("inf")
    before = frozenset(one for one in candidates if known.get(one, float("inf")) < stored_at)
    if not before:
        return Heard(event)
    said = without_echoes(event.content, before)
    if event.tool_call is None:
        return Heard(replace(event, content=said.rest), said.pieces)
    result = without_echoes(event.tool_call.result, before)
    heard = replace(event, content=said.rest, tool_call=replace(event.tool_call, result=result.rest))
    return Heard(heard, said.pieces + result.pieces)
