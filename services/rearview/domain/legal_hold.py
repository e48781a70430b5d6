"""Legal holds: what must not be erased, whoever asks and whatever has expired."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

LEGAL_HOLDS = "legalHolds"


class HoldScope(StrEnum):
    """What a hold stands on; the values are those of the database."""

    NAMESPACE = "namespace"
    SESSION = "session"
    MEMORY = "memory"
    SUBJECT = "subject"


@dataclass(frozen=True, slots=True)
class HoldTarget:
    """What is held in a namespace: `target` is the session's or the memory's id or the subject's canonical name, empty
    for all of it. A subject comes with all its spellings, and with those that tell it in a text."""

    scope: HoldScope
    target: str = ""
    names: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetHold:
    """A request to set or lift a hold; `reason` goes to the audit log. `resource_name` is what it names."""

    namespace: str
    target: HoldTarget
    resource_name: str
    held: bool
    reason: str


@dataclass(frozen=True, slots=True)
class StandingHold:
    """A hold that stands; `target` is as of `HoldTarget`."""

    hold_id: UUID
    namespace: str
    scope: HoldScope
    target: str
    principal: str
    created_at: datetime


def hold_name(hold_id: UUID) -> str:
    """Return `legalHolds/{hold}`."""
    return f"{LEGAL_HOLDS}/{hold_id}"
