"""How a table of time rules is applied to a text."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rearview.domain.text import TimeRange
from rearview.language.calendar_ranges import Calendar, Unit

Groups = dict[str, str]
Resolve = Callable[[Calendar, Groups], TimeRange]


MAX_MATCHES = 256
"""Later matches in one text are left out."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what its named groups mean.

    A group named `time`, where there is one, is the expression itself, and what surrounds it only its condition.
    """

    pattern: re.Pattern[str]
    resolve: Resolve
    recurs: Unit | None = None


@dataclass(frozen=True, slots=True)
class FoundTime:
    """A rule that matched text[start:end]; `relative` unless a year was named.

    `yearless` marks a month or date whose year was guessed, so that a range may guess it anew; `recurs` a weekday or
    day of the month of which the same is true of its week or month.
    """

    start: int
    end: int
    range: TimeRange
    relative: bool
    yearless: bool = False
    recurs: Unit | None = None


_NEEDS_YEAR = frozenset(("month", "holiday", "quarter", "half_year"))
_GIVES_YEAR = frozenset(("year", "decade"))
_POINTS_AT_YEAR = _GIVES_YEAR | {"word", "step"}


def find_by_rules(rules: Iterable[Rule], text: str, calendar: Calendar) -> list[FoundTime]:
    """Every match of every rule that means a real date, overlaps included."""
    found: list[FoundTime] = []
    for rule in rules:
        for match in rule.pattern.finditer(text):
            groups = {name: value for name, value in match.groupdict().items() if value}
            try:
                meaning = rule.resolve(calendar, groups)
            except (ValueError, OverflowError):
                # 30 February, the year 20000: words that look like a date and are none.
                continue
            start, end = match.span("time") if "time" in groups else match.span()
            relative = _GIVES_YEAR.isdisjoint(groups)
            yearless = not _NEEDS_YEAR.isdisjoint(groups) and _POINTS_AT_YEAR.isdisjoint(groups)
            found.append(FoundTime(start, end, meaning, relative, yearless, rule.recurs))
    return found


def longest_first(found: list[FoundTime]) -> list[FoundTime]:
    """Matches without overlaps, in order of place; of two that overlap the longer one stays."""
    kept: list[FoundTime] = []
    first = sorted(found, key=lambda match: match.start)[:MAX_MATCHES]
    for candidate in sorted(first, key=lambda match: (match.start - match.end, match.start)):
        if all(candidate.end <= other.start or other.end <= candidate.start for other in kept):
            kept.append(candidate)
    return sorted(kept, key=lambda match: match.start)
