"""The words for what the domain numbers, as lines have them."""

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from rearview.domain.event import CaptureOutcome, EventRole
from rearview.domain.memory import MemoryState, MemoryType, Origin, Tier, Trust
from rearview.domain.text import EntityType, Intent, Language

E = TypeVar("E", bound=Enum)


def _words(kind: type[E]) -> Mapping[str, E]:
    return {member.name.lower(): member for member in kind}


ROLES = _words(EventRole)
OUTCOMES = _words(CaptureOutcome)
TYPES = _words(MemoryType)
STATES = {word: state for word, state in _words(MemoryState).items() if state is not MemoryState.TOMBSTONED}
TIERS = _words(Tier)
ORIGINS = _words(Origin)
TRUSTS = _words(Trust)
ENTITY_TYPES = _words(EntityType)
INTENTS = _words(Intent)
LANGUAGES = _words(Language)
