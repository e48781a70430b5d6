"""What only the own text of a candidate tells, as opposed to that of its memory or of the turns around it.

Terms of fusion are known of a whole pool before any text is read. These are known of the shortlist only, and lower the
candidates that lack what another one has: an identifier, a name, a time that the query names. A score thus never grows,
and those that have it keep their order among themselves.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from rearview.domain.recall import ScoreParts
from rearview.domain.relevance import SLOPE, logistic
from rearview.domain.text import TimeRange

IDENTIFIER_WEIGHT = 8.0
"""More than all that the turns around an order number can gain by standing beside it."""

NAME_WEIGHT = 3.0
"""As much as a speaker's name. Taken only from texts of another language than the query's, against what fusion grants
them for words that they cannot share; in the query's own, what follows a name ("she collects records") may answer."""

RANGE_WEIGHT = 3.0
"""Beside the fusion's term for what was told around a time. What answers a question far better than all that was said
within its time still comes first: then its time was misunderstood, or is that of something else."""

OUTDATED_REACH = 6.0
"""By so much a turn that states an outdated fact may score above the fact that holds and still be set below it; further
apart they answer different questions."""

SOON_AFTER = 1 / 3
SOON_AFTER_SHARE = 0.5
LONG_RANGE = timedelta(days=7)
"""What happened in a month is often told in the ten days after it: a third of a range of LONG_RANGE or more."""

LONGEST_RANGE = timedelta(days=366)
_LONGEST_MENTION = timedelta(days=8)
_LEAST_STEP = 1e-6


def explicit_ranges(ranges: Sequence[TimeRange], asked_at: datetime) -> tuple[TimeRange, ...]:
    """Return a query's times if they bound its answer: not where one is open, or ends now ("recently")."""
    bounded = all(one.end != asked_at and one.end - one.start <= LONGEST_RANGE for one in ranges)
    return tuple(ranges) if bounded else ()


def share_held(folded_text: str, wanted: Sequence[str]) -> float:
    """Return the share, in [0, 1], of folded codes or names that stand in a folded text as whole words; 0 of none."""
    if not wanted:
        return 0.0
    return sum(_stands_in(folded_text, one) for one in wanted) / len(wanted)


def share_inside(occurred_at: datetime, mentioned: Sequence[TimeRange], ranges: Sequence[TimeRange]) -> float:
    """Return 1 for what was said within one of the ranges or names a time that begins there, a half for what was said
    soon after a long one, else 0.

    What names a year says little about a day in it, so a time named must not be much longer than the range.
    """
    return max((_share_inside(occurred_at, mentioned, one) for one in ranges), default=0.0)


def _share_inside(occurred_at: datetime, mentioned: Sequence[TimeRange], within: TimeRange) -> float:
    length = within.end - within.start
    names_it = any(
        within.contains(named.start) and named.end - named.start <= max(length, _LONGEST_MENTION) for named in mentioned
    )
    if names_it or within.contains(occurred_at):
        return 1.0
    soon_after = length >= LONG_RANGE and within.end <= occurred_at < within.end + length * SOON_AFTER
    return SOON_AFTER_SHARE if soon_after else 0.0


def lowered(score: ScoreParts, term: str, amount: float) -> ScoreParts:
    """Return a score without `amount`, 0 or more, of its fused score, noted as a term of that name."""
    if amount <= 0.0:
        return score
    terms = {**score.fusion_terms, term: -SLOPE * amount}
    relevance = min(logistic(sum(terms.values())), score.relevance)
    total = score.total + score.relevance_weight * (relevance - score.relevance)
    return replace(score, total=max(total, 0.0), relevance=relevance, fusion_terms=terms)


def set_below(score: ScoreParts, other: ScoreParts, term: str) -> ScoreParts:
    """Return a score just below another one, if it is above it and within OUTDATED_REACH of it; otherwise itself."""
    if score.total < other.total or not score.relevance_weight:
        return score
    apart = (sum(score.fusion_terms.values()) - sum(other.fusion_terms.values())) / SLOPE
    if apart > OUTDATED_REACH:
        return score
    total = max(other.total - _LEAST_STEP, 0.0)
    relevance = max(score.relevance - (score.total - total) / score.relevance_weight, 0.0)
    return replace(score, total=total, relevance=relevance, fusion_terms={**score.fusion_terms, term: -SLOPE * apart})


def _stands_in(text: str, wanted: str) -> bool:
    if not wanted:
        return False
    before = r"(?<![a-z0-9])" if re.match("[a-z0-9]", wanted[0]) else ""
    after = r"(?![a-z0-9])" if re.match("[a-z0-9]", wanted[-1]) else ""
    return re.search(before + re.escape(wanted) + after, text) is not None
