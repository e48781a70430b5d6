"""Turns to read, and answers of a model about them, short to write."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from rearview.domain.event import EventRole
from rearview.domain.extraction import ExtractionRequest, TurnToRead
from rearview.language.scripts import languages

TENANT = UUID("018f4a00-0000-7000-8000-000000000001")
OTHER_TENANT = UUID("018f4a00-0000-7000-8000-000000000002")
STARTED = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def turn(text: str, role: EventRole = EventRole.USER, *, number: int = 1) -> TurnToRead:
    """Return a turn; the same number and text give the same event."""
    event_id = uuid5(TENANT, f"{number} {text.encode('utf-8', 'replace').decode()}")
    return TurnToRead(event_id, role, text, STARTED + timedelta(minutes=number), languages=languages(text))


def request(
    *said: str | tuple[EventRole, str], earlier: Sequence[str | tuple[EventRole, str]] = (), tenant_id: UUID = TENANT
) -> ExtractionRequest:
    """Return a request for turns, those of the user given by their text alone."""
    return ExtractionRequest(tenant_id, _turns(said, 100), _turns(earlier, 0))


def _turns(said: Sequence[str | tuple[EventRole, str]], after: int) -> tuple[TurnToRead, ...]:
    pairs = [(EventRole.USER, each) if isinstance(each, str) else each for each in said]
    return tuple(turn(text, role, number=after + at) for at, (role, text) in enumerate(pairs))


def fact(quote: str, attribute: str, value: str | None, **changes: Any) -> dict[str, Any]:
    """Return a fact as a model writes it: about the user, affirmed and standing unless told otherwise."""
    usual = {"about": "user", "topic": None, "polarity": "affirmed", "stance": "standing"}
    return {"quote": quote, "attribute": attribute, "value": value, **usual, **changes}


def entry(number: int, *facts: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return what a model says of one turn."""
    usual = {"intent": "inform", "valence": 0.0, "intensity": 0.0, "entities": []}
    return {"turn": number, "facts": list(facts), **usual, **changes}


def answer(*entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return a whole answer."""
    return {"turns": list(entries)}
