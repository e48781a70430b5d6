"""What turns state, by the configured source of facts."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from uuid import UUID

from rearview.domain.capture import origin_of
from rearview.domain.event import Event, EventRole
from rearview.domain.extraction import ExtractionRequest, TurnReading, TurnToRead
from rearview.domain.memory import Origin
from rearview.ports.fact_source import FactSource

MOST_TURNS = 16
"""So many turns are read together: more would make the delay of one reading that of all."""


class StatementReader:
    """Reads turns for facts. `zone` is the one in which speakers' dates are meant."""

    def __init__(self, source: FactSource, zone: tzinfo) -> None:
        self._source = source
        self._zone = zone

    async def read(
        self, tenant_id: UUID, events: Sequence[Event], earlier: Sequence[Event] = ()
    ) -> Mapping[UUID, TurnReading]:
        """Return the readings of turns in which something is stated, by event. `earlier` turns are context.

        Raises:
            ModelUnavailable: a model was to read and could not.
        """
        found: dict[UUID, TurnReading] = {}
        turns = list(self._turns(events))
        before = list(self._turns(earlier))
        for first in range(0, len(turns), MOST_TURNS):
            batch = turns[first : first + MOST_TURNS]
            request = ExtractionRequest(tenant_id, tuple(batch), tuple(before[-4:]))
            extraction = await self._source.read(request)
            found |= {reading.event_id: reading for reading in extraction.readings if reading.facts}
            before = [*before[-4:], *batch]
        return found

    def _turns(self, events: Iterable[Event]) -> Iterable[TurnToRead]:
        for event in events:
            moment = event.occurred_at.astimezone(self._zone)
            call = event.tool_call
            if origin_of(event) is Origin.TOOL:
                text, tool = (call.result, call.tool) if call else (event.content, "")
                yield TurnToRead(event.event_id, EventRole.TOOL, text, moment, tool=tool)
            else:
                yield TurnToRead(event.event_id, event.role, event.content, moment, event.speaker)
