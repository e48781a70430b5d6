"""When memories move between tiers: the platform's defaults, a tenant's values, a namespace's overrides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from rearview.domain.errors import invalid_field
from rearview.domain.memory import MemoryType

MAX_AGE = timedelta(days=36_500)
MAX_HOT_MEMORIES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class LifecyclePolicy:
    """What is in force.

    Attributes:
        warm_after: hot memories unused for this long become warm.
        cold_after: memories unused for this long become cold; not shorter than `warm_after`.
        max_hot_memories: a namespace keeps at most this many memories hot, the oldest and least valued go first.
        hot_priority_floor: memories with at least this priority stay hot, as pinned ones do.
        expire_after: cold memories of a type that were unused for this long expire, unless they are pinned; those of a
            type that is not named never do.
        event_retention: raw events lapse after this.
        trace_retention: recall traces lapse after this.
        value_floor: memories whose value (`domain.falling`) is below this move down a tier, and episodes expire from
            the cold one; 0 leaves all where they are.
        value_grace: how long a memory is in its tier, unused, before its value counts.
    """

    warm_after: timedelta = timedelta(days=30)
    cold_after: timedelta = timedelta(days=90)
    max_hot_memories: int = 100_000
    hot_priority_floor: float = 0.9
    expire_after: Mapping[MemoryType, timedelta] = field(default_factory=dict)
    event_retention: timedelta = timedelta(days=365)
    trace_retention: timedelta = timedelta(days=7)
    value_floor: float = 0.0
    value_grace: timedelta = timedelta(days=7)


DEFAULT_LIFECYCLE = LifecyclePolicy()


@dataclass(frozen=True, slots=True)
class LifecycleValues:
    """Values set at one level; None takes the level above."""

    warm_after: timedelta | None = None
    cold_after: timedelta | None = None
    max_hot_memories: int | None = None
    hot_priority_floor: float | None = None
    expire_after: Mapping[MemoryType, timedelta] | None = None
    event_retention: timedelta | None = None
    trace_retention: timedelta | None = None
    value_floor: float | None = None
    value_grace: timedelta | None = None

    def over(self, above: LifecyclePolicy) -> LifecyclePolicy:
        """Return what is in force where these values are set."""
        return LifecyclePolicy(
            above.warm_after if self.warm_after is None else self.warm_after,
            above.cold_after if self.cold_after is None else self.cold_after,
            above.max_hot_memories if self.max_hot_memories is None else self.max_hot_memories,
            above.hot_priority_floor if self.hot_priority_floor is None else self.hot_priority_floor,
            above.expire_after if self.expire_after is None else self.expire_after,
            above.event_retention if self.event_retention is None else self.event_retention,
            above.trace_retention if self.trace_retention is None else self.trace_retention,
            above.value_floor if self.value_floor is None else self.value_floor,
            above.value_grace if self.value_grace is None else self.value_grace,
        )


FIELDS = frozenset(LifecycleValues.__dataclass_fields__)
NOTHING_SET = LifecycleValues()


@dataclass(frozen=True, slots=True)
class LifecycleChanges:
    """New values of the fields in `mask`, None for the level above; with a `version` refused unless it is stored."""

    mask: frozenset[str]
    values: LifecycleValues
    version: int | None = None


@dataclass(frozen=True, slots=True)
class NamespaceLifecycle:
    """What is in force in a namespace, and the version of its own values; 0 where none were set."""

    policy: LifecyclePolicy = DEFAULT_LIFECYCLE
    version: int = 0


def told(values: LifecycleValues, mask: frozenset[str]) -> str:
    """Return the values of the fields in the mask as the audit records them."""
    texts = []
    for name in sorted(mask):
        value = getattr(values, name)
        if isinstance(value, Mapping):
            value = ",".join(f"{kind.name.lower()}:{age}" for kind, age in sorted(value.items()))
        texts.append(f" {name}={value}")
    return "".join(texts)


def check_order(policy: LifecyclePolicy, field: str) -> None:
    """Raises: InvalidFields, when memories would be cold before they are warm."""
    if policy.cold_after < policy.warm_after:
        raise invalid_field(field, "must not be shorter than the warm_after in force")
