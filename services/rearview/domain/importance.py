"""Importance of a turn: recency x density x task relevance x reference frequency.

The product rule is `1/(1 + 0.3 * age_turns) * density * (1.5 if task keyword else 1) * (1 + 0.1 * references)`, where
references are other turns lately that name the same thing, five at most. Density counts what a turn
says (facts, numbers, names, preferences) before how long it is: "我叫李雷" is dense, a long "thank you so much" is not.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

AGE_WEIGHT = 0.3
TASK_FACTOR = 1.5
PER_REFERENCE, MOST_REFERENCES = 0.1, 5

DROP_BELOW = 0.05
"""A turn whose importance is below this does not become a memory.

It lies between the most an empty turn can reach (EMPTY_DENSITY * TASK_FACTOR * 1.5 = 0.045) and the least a turn with
content has when it is twenty turns old (CONTENT_DENSITY / 7 = 0.05), so that within a segment of ordinary length only
small talk and acknowledgements are dropped.
"""

EMPTY_DENSITY = 0.02
CONTENT_DENSITY = 0.36

_LENGTH_WEIGHT = 0.2
_FULL_LENGTH = 200
_PER_FACT, _MOST_FACTS = 0.2, 2
_PER_NUMBER, _MOST_NUMBERS = 0.06, 3
_PER_NAME, _MOST_NAMES = 0.06, 3
_PER_PREFERENCE, _MOST_PREFERENCES = 0.12, 2


@dataclass(frozen=True, slots=True)
class TurnSignals:
    """What importance is computed from.

    `length` is in characters without white space, a Chinese character counting as two. `forced_kind` is for turns
    whose kind alone makes them worth keeping (tool calls and results, events declared a decision or a constraint).
    `reference_count` counts the other turns lately that name what this one names.
    """

    length: int = 0
    small_talk: bool = False
    acknowledgement: bool = False
    number_count: int = 0
    name_count: int = 0
    preference_count: int = 0
    fact_count: int = 0
    explicit_remember: bool = False
    decision: bool = False
    constraint: bool = False
    task_keyword: bool = False
    forced_kind: bool = False
    reference_count: int = 0

    @property
    def forced(self) -> bool:
        """Whether the turn is kept whatever its importance."""
        return self.forced_kind or self.explicit_remember or self.decision or self.constraint

    @property
    def is_empty(self) -> bool:
        """Whether the turn is nothing but small talk, an acknowledgement, or nothing at all."""
        return (self.small_talk or self.acknowledgement or self.length == 0) and self.fact_count == 0


def density(signals: TurnSignals) -> float:
    """How much a turn says for its size, in (0, 1]; EMPTY_DENSITY for small talk, else at least CONTENT_DENSITY."""
    if signals.is_empty and not signals.forced:
        return EMPTY_DENSITY
    return min(
        1.0,
        CONTENT_DENSITY
        + _LENGTH_WEIGHT * min(signals.length / _FULL_LENGTH, 1.0)
        + _PER_FACT * min(signals.fact_count, _MOST_FACTS)
        + _PER_NUMBER * min(signals.number_count, _MOST_NUMBERS)
        + _PER_NAME * min(signals.name_count, _MOST_NAMES)
        + _PER_PREFERENCE * min(signals.preference_count, _MOST_PREFERENCES),
    )


def importance(signals: TurnSignals, age_turns: int = 0) -> float:
    """Importance of a turn, in (0, 2.25]; comparable with DROP_BELOW.

    A turn with a fact, or one that is forced, never falls below DROP_BELOW however old it is.

    Raises:
        ValueError: `age_turns` is negative.
    """
    if age_turns < 0:
        raise ValueError(f"age_turns must not be negative, got {age_turns}")
    value = density(signals) / (1.0 + AGE_WEIGHT * age_turns) * (TASK_FACTOR if signals.task_keyword else 1.0)
    value *= 1.0 + PER_REFERENCE * min(signals.reference_count, MOST_REFERENCES)
    if signals.forced or signals.fact_count > 0:
        return max(value, DROP_BELOW)
    return value


def reference_counts(named: Sequence[Collection[str]]) -> list[int]:
    """Return, for each of some turns, how many others name the thing that is mentioned most of what it names."""
    mentions = Counter(thing for things in named for thing in set(things))
    return [max((mentions[thing] - 1 for thing in things), default=0) for things in named]


def is_droppable(signals: TurnSignals, age_turns: int = 0) -> bool:
    """Whether a turn is too unimportant to become a memory (it stays in the event log)."""
    return importance(signals, age_turns) < DROP_BELOW
