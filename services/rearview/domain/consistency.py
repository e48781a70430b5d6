"""What a new statement does to what is known: it confirms, takes a place, becomes history, or changes nothing.

The values of one attribute form a timeline by the moment each was told, not by the moment it arrived, so any order of
arrival leads to the same history. A single-valued attribute has one timeline; of one that accumulates, each value has
its own, in which holding and not holding follow each other. At most the last value of a timeline is active.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from rearview.domain.fact import ANY_OF, Stance
from rearview.domain.memory import MemoryState, Trust

_REPLACING = frozenset((Stance.CHANGE, Stance.CORRECTION))


@dataclass(frozen=True, slots=True)
class HeldValue:
    """A value of one subject's attribute, on record or about to be.

    `told_at` and `source_id` (an event, or an explicit memory) place it in the timeline; `said_until` is when it was
    last said again. `starts_at` is when it began to hold; `valid_to` is when it ceased to. An active value with a
    `valid_to` was told of as a bounded time: it is no part of a timeline and neither supersedes nor is superseded.
    """

    memory_id: UUID
    value_key: str
    told_at: datetime
    source_id: UUID
    starts_at: datetime
    unit: str = ""
    denied: bool = False
    single_valued: bool = False
    stance: Stance = Stance.STANDING
    category: str = ""
    replaces: str = ""
    trust: Trust = Trust.TRUSTED
    valid_to: datetime | None = None
    state: MemoryState = MemoryState.ACTIVE
    superseded_by: UUID | None = None
    said_until: datetime | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether it was told of as a time that ends."""
        return self.state is MemoryState.ACTIVE and self.valid_to is not None

    @property
    def position(self) -> tuple[datetime, UUID, UUID]:
        """Its place in a timeline; the same whatever arrives first."""
        return (self.told_at, self.source_id, self.memory_id)

    def held_at(self, moment: datetime) -> bool:
        """Whether nothing had ended it by then."""
        return self.valid_to is None or self.valid_to > moment

    def same_value(self, other: "HeldValue") -> bool:
        """Whether both name one value; an amount without a unit equals the same amount in any."""
        return self.value_key == other.value_key and (not self.unit or not other.unit or self.unit == other.unit)


class Effect(StrEnum):
    """What became of a statement."""

    STORED = "stored"
    HISTORY = "history"
    CONFIRMED = "confirmed"
    ENDED = "ended"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What is to be written.

    Attributes:
        stored: the new value as it is to be stored; None when no memory is to be made.
        confirmed: the value that it says again.
        changed: known values as they are from now on.
        superseded: those that ceased to hold because of it.
    """

    effect: Effect
    stored: HeldValue | None = None
    confirmed: UUID | None = None
    changed: tuple[HeldValue, ...] = ()
    superseded: tuple[UUID, ...] = ()


NOTHING = Resolution(Effect.NONE)


def resolve(new: HeldValue, known: Sequence[HeldValue]) -> Resolution:
    """Return what a statement does to the values known of its subject's attribute.

    A one-off changes nothing and is no fact. What is trusted less never touches what is trusted more.
    """
    if new.stance is Stance.ONE_OFF:
        return NOTHING
    if new.stance is Stance.RETRACTION:
        return _retracted(new, known)
    if new.is_bounded:
        return _bounded(new, known)
    timeline = sorted(
        (
            value
            for value in known
            if not value.is_bounded and (value.single_valued if new.single_valued else value.same_value(new))
        ),
        key=lambda value: value.position,
    )
    placed = _placed(new, timeline)
    if new.single_valued or placed.stored is None:
        return placed
    return _across(placed, placed.stored, [value for value in known if not value.same_value(new)])


def _placed(new: HeldValue, timeline: Sequence[HeldValue]) -> Resolution:
    after = next((value for value in timeline if value.position > new.position), None)
    holding = next((v for v in reversed(timeline) if v.position < new.position and v.held_at(new.told_at)), None)
    if holding is not None and _same_claim(holding, new):
        return Resolution(Effect.CONFIRMED, confirmed=holding.memory_id)
    if new.single_valued and new.denied and holding is not None and not holding.same_value(new):
        return NOTHING
    if holding is not None and holding.trust > new.trust:
        return NOTHING
    if after is not None and _same_claim(after, new) and (holding is None or holding.superseded_by == after.memory_id):
        earlier = replace(after, starts_at=min(after.starts_at, new.starts_at))
        changed = [earlier] if earlier != after else []
        if holding is not None:
            changed.append(replace(holding, valid_to=_end(holding, earlier)))
        return Resolution(Effect.CONFIRMED, confirmed=after.memory_id, changed=tuple(changed))
    if holding is not None and holding.said_until is not None and holding.said_until > new.told_at:
        # The other value was said before and after, so this one has been replaced by it since.
        between = replace(
            new, state=MemoryState.SUPERSEDED, superseded_by=holding.memory_id, valid_to=holding.said_until
        )
        return Resolution(Effect.HISTORY, between)
    if holding is not None and holding.valid_to is not None:
        stored = replace(new, state=holding.state, valid_to=holding.valid_to, superseded_by=holding.superseded_by)
    elif after is not None:
        stored = _superseded(new, after)
    else:
        stored = replace(new, state=MemoryState.ACTIVE)
    changed = [] if holding is None else [_superseded(holding, new)]
    if stored.state is MemoryState.ACTIVE:
        # A restored value may be active out of its order; there is one active value whatever happened before.
        others = [value for value in timeline if value.state is MemoryState.ACTIVE and value is not holding]
        changed += [_superseded(value, new) for value in others if value.position < new.position]
    effect = Effect.STORED if stored.state is MemoryState.ACTIVE else Effect.HISTORY
    return Resolution(effect, stored, changed=tuple(changed), superseded=tuple(value.memory_id for value in changed))


def _across(placed: Resolution, stored: HeldValue, others: Iterable[HeldValue]) -> Resolution:
    """Let a change take the place of other values of an attribute that accumulates, and a later one that of this."""
    changed, superseded = list(placed.changed), list(placed.superseded)
    effect = placed.effect
    for other in others:
        if other.is_bounded or other.denied or stored.denied:
            continue
        earlier = other.position < stored.position
        if earlier and _replaces(stored, other) and other.held_at(stored.told_at) and other.trust <= stored.trust:
            changed.append(_superseded(other, stored))
            superseded.append(other.memory_id)
        elif not earlier and _replaces(other, stored) and stored.held_at(other.told_at) and stored.trust <= other.trust:
            stored = _superseded(stored, other)
            effect = Effect.HISTORY
    return Resolution(effect, stored, changed=tuple(changed), superseded=tuple(superseded))


def _replaces(change: HeldValue, other: HeldValue) -> bool:
    if change.stance not in _REPLACING:
        return False
    if change.replaces:
        return other.value_key in change.replaces.split(ANY_OF)
    return change.stance is Stance.CHANGE and bool(change.category) and change.category == other.category


def _retracted(new: HeldValue, known: Sequence[HeldValue]) -> Resolution:
    ended = tuple(
        replace(value, state=MemoryState.INACTIVE, valid_to=max(value.starts_at, new.told_at))
        for value in known
        if value.state is MemoryState.ACTIVE
        and not value.is_bounded
        and (not new.value_key or value.same_value(new))
        and value.position < new.position
        and value.trust <= new.trust
    )
    if not ended:
        return NOTHING
    return Resolution(Effect.ENDED, changed=ended, superseded=tuple(value.memory_id for value in ended))


def _bounded(new: HeldValue, known: Sequence[HeldValue]) -> Resolution:
    for value in known:
        same_time = (value.starts_at, value.valid_to) == (new.starts_at, new.valid_to)
        if value.is_bounded and value.same_value(new) and value.denied == new.denied and same_time:
            return Resolution(Effect.CONFIRMED, confirmed=value.memory_id)
    return Resolution(Effect.STORED, replace(new, single_valued=False))


def _same_claim(one: HeldValue, other: HeldValue) -> bool:
    return one.denied == other.denied and one.same_value(other)


def _superseded(value: HeldValue, by: HeldValue) -> HeldValue:
    return replace(value, state=MemoryState.SUPERSEDED, superseded_by=by.memory_id, valid_to=_end(value, by))


def _end(value: HeldValue, by: HeldValue) -> datetime:
    """When a value ceased to hold: when the next began, unless that is said to reach back behind its own beginning."""
    return by.starts_at if by.starts_at > value.starts_at else max(value.starts_at, by.told_at)


CONFIDENCE_OF_FIRST = {Trust.TRUSTED: 0.7, Trust.DERIVED: 0.5, Trust.UNTRUSTED: 0.4}
MOST_CONFIDENCE = {Trust.TRUSTED: 0.99, Trust.DERIVED: 0.8, Trust.UNTRUSTED: 0.6}
_DOUBT_LEFT = 0.6


def confidence(trust: Trust, sources: int) -> float:
    """Return how sure a fact is that so many events or explicit memories state, each counted once.

    The first gives what its trust is worth; each further one leaves 0.6 of the doubt, up to a bound by trust: however
    often a tool says something, it stays a tool's word.
    """
    doubt = (1.0 - CONFIDENCE_OF_FIRST[trust]) * _DOUBT_LEFT ** max(sources - 1, 0)
    return min(MOST_CONFIDENCE[trust], 1.0 - doubt)
