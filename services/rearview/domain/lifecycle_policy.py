"""When memories move between tiers: the platform's defaults, a tenant's values, a namespace's overrides."""

from dataclasses import dataclass
from datetime import timedelta

from rearview.domain.errors import invalid_field

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
    """

    warm_after: timedelta = timedelta(days=30)
    cold_after: timedelta = timedelta(days=90)
    max_hot_memories: int = 100_000
    hot_priority_floor: float = 0.9


DEFAULT_LIFECYCLE = LifecyclePolicy()


@dataclass(frozen=True, slots=True)
class LifecycleValues:
    """Values set at one level; None takes the level above."""

    warm_after: timedelta | None = None
    cold_after: timedelta | None = None
    max_hot_memories: int | None = None
    hot_priority_floor: float | None = None

    def over(self, above: LifecyclePolicy) -> LifecyclePolicy:
        """Return what is in force where these values are set."""
        return LifecyclePolicy(
            above.warm_after if self.warm_after is None else self.warm_after,
            above.cold_after if self.cold_after is None else self.cold_after,
            above.max_hot_memories if self.max_hot_memories is None else self.max_hot_memories,
            above.hot_priority_floor if self.hot_priority_floor is None else self.hot_priority_floor,
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


def check_order(policy: LifecyclePolicy, field: str) -> None:
    """Raises: InvalidFields, when memories would be cold before they are warm."""
    if policy.cold_after < policy.warm_after:
        raise invalid_field(field, "must not be shorter than the warm_after in force")
