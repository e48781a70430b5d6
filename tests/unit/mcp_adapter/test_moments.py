"""Times as agents write them."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.mcp_adapter.moments import EXPECTED, read_moment

MOMENT = datetime(2026, 8, 15, 2, 30, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(
    "value",
    [
        "2026-08-15T10:30:00+08:00",
        "2026-08-15T02:30:00Z",
        " 2026-08-15 02:30Z ",
        "20260815T023000Z",
        MOMENT.timestamp(),
        int(MOMENT.timestamp()),
        int(MOMENT.timestamp() * 1000),
        str(int(MOMENT.timestamp())),
        str(int(MOMENT.timestamp() * 1000)),
    ],
)
def test_what_can_mean_one_moment_is_accepted(value: object) -> None:
    assert read_moment(value) == MOMENT


@pytest.mark.parametrize(
    "value",
    ["2026-08-15", "20260815", "2026年8月15日", "2026年08月15号", "2026/8/15", "2026.8.15", " 2026-8-15 "],
)
def test_dates_are_days_of_the_zone(value: str) -> None:
    assert read_moment(value) == datetime(2026, 8, 15, tzinfo=UTC)
    assert read_moment(value, zone=SHANGHAI) == datetime(2026, 8, 14, 16, tzinfo=UTC)
    assert read_moment(value, end_of_day=True) == datetime(2026, 8, 16, tzinfo=UTC)


def test_a_time_without_offset_needs_the_callers_zone() -> None:
    assert read_moment("2026-08-15T10:30:00", zone=SHANGHAI) == MOMENT
    assert read_moment("2026年8月15日 10:30", zone=SHANGHAI) == MOMENT
    with pytest.raises(ValueError, match="offset is missing"):
        read_moment("2026-08-15T10:30:00")


@pytest.mark.parametrize(
    "value",
    [
        "yesterday",
        "昨天",
        "15/08/2026",
        "08-15",
        "8月15日",
        "26/8/15",
        "2026-8/15",
        "2026年13月1日",
        "2026-8-151",
        "",
        True,
        None,
        [],
        0,
        20260815,
        42,
        1e20,
        float("nan"),
        float("inf"),
    ],
)
def test_what_could_mean_several_moments_or_none_is_refused_with_what_was_expected(value: object) -> None:
    with pytest.raises(ValueError, match="expected an ISO 8601 time") as refused:
        read_moment(value)
    assert str(refused.value).endswith(EXPECTED)


@given(st.datetimes(min_value=datetime(1974, 1, 1), max_value=datetime(5000, 1, 1)))  # noqa: DTZ001 - made aware below
def test_seconds_milliseconds_and_text_of_one_moment_are_read_alike(naive: datetime) -> None:
    moment = naive.replace(tzinfo=UTC, microsecond=0)
    seconds = int(moment.timestamp())
    assert read_moment(seconds) == read_moment(seconds * 1000) == read_moment(moment.isoformat()) == moment
