"""What a candidate's own text tells."""

from datetime import UTC, datetime, timedelta

import pytest

from rearview.domain.own_text import (
    OUTDATED_REACH,
    explicit_ranges,
    lowered,
    set_below,
    share_held,
    share_inside,
)
from rearview.domain.recall import ScoreParts
from rearview.domain.relevance import SLOPE, logistic
from rearview.domain.text import TimeRange

NOW = datetime(2026, 11, 19, 8, tzinfo=UTC)
DAY = TimeRange(datetime(2026, 11, 17, tzinfo=UTC), datetime(2026, 11, 18, tzinfo=UTC))
MONTH = TimeRange(datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC))
YEAR = TimeRange(datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))


def score(logit: float) -> ScoreParts:
    relevance = logistic(logit)
    return ScoreParts(
        total=0.9 * relevance + 0.05, relevance=relevance, relevance_weight=0.9, fusion_terms={"keyword": logit}
    )


@pytest.mark.parametrize(
    ("text", "wanted", "share"),
    [
        ("订单号是zx88231，已经收到了", ["zx88231"], 1.0),
        ("订单号是zx882311", ["zx88231"], 0.0),
        ("error e4031 in eu-4", ["e4031", "e4013"], 0.5),
        ("王晓彤在学画画", ["王晓彤"], 1.0),
        ("anything", [], 0.0),
    ],
)
def test_codes_and_names_are_looked_for_as_whole_words(text: str, wanted: list[str], share: float) -> None:
    assert share_held(text, wanted) == share


def test_a_time_that_is_open_or_ends_now_bounds_no_answer() -> None:
    recently = TimeRange(NOW - timedelta(days=30), NOW)
    until = TimeRange(datetime(1000, 1, 1, tzinfo=UTC), NOW - timedelta(days=9))
    assert explicit_ranges((DAY, MONTH, YEAR), NOW) == (DAY, MONTH, YEAR)
    assert explicit_ranges((recently,), NOW) == ()
    assert explicit_ranges((DAY, until), NOW) == ()


@pytest.mark.parametrize(
    ("occurred_at", "mentioned", "within", "share"),
    [
        (DAY.start, (), DAY, 1.0),
        (DAY.end, (), DAY, 0.0),
        (DAY.end + timedelta(hours=4), (), DAY, 0.0),
        (DAY.end + timedelta(days=2), (DAY,), DAY, 1.0),
        (DAY.end + timedelta(days=2), (YEAR,), DAY, 0.0),
        (MONTH.end + timedelta(days=9), (), MONTH, 0.5),
        (MONTH.end + timedelta(days=11), (), MONTH, 0.0),
        (MONTH.start - timedelta(days=1), (), MONTH, 0.0),
    ],
)
def test_inside_is_what_was_said_then_or_names_it(
    occurred_at: datetime, mentioned: tuple[TimeRange, ...], within: TimeRange, share: float
) -> None:
    assert share_inside(occurred_at, mentioned, (within,)) == share


def test_a_lowered_score_is_still_the_sum_of_its_parts() -> None:
    before = score(2.0)
    after = lowered(before, "identifier", 3.0)
    assert after.relevance == pytest.approx(logistic(sum(after.fusion_terms.values())))
    assert after.total == pytest.approx(0.9 * after.relevance + 0.05)
    assert after.total < before.total
    assert lowered(before, "identifier", 0.0) is before


def test_what_is_outdated_goes_just_below_what_holds_where_both_answer() -> None:
    holds, near, far = score(0.0), score(1.0), score(SLOPE * (OUTDATED_REACH + 1.0))
    assert set_below(near, holds, "outdated").total < holds.total
    assert holds.total - set_below(near, holds, "outdated").total < 0.001
    assert set_below(far, holds, "outdated") is far
    assert set_below(holds, near, "outdated") is holds
