"""Times named in Chinese and English, and the awkward moments of the calendar."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.text import TimeRange
from rearview.language.time_expressions import MAX_CHARACTERS, find_times
from rearview.language.time_rules import FoundTime, longest_first

SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")
WEDNESDAY = datetime(2024, 5, 15, 10, 0, tzinfo=SHANGHAI)

FORMAT = "%Y-%m-%d %H:%M"


def local_ranges(text: str, reference: datetime = WEDNESDAY, zone: ZoneInfo = SHANGHAI) -> list[tuple[str, str]]:
    return [
        (
            found.range.start.astimezone(zone).strftime(FORMAT),
            found.range.end.astimezone(zone).strftime(FORMAT),
        )
        for found in find_times(text, reference, zone)
    ]


def whole_days(first: str, after_last: str) -> tuple[str, str]:
    return f"{first} 00:00", f"{after_last} 00:00"


NOW = "2024-05-15 10:00"

DAYS = [
    ("我们昨天去爬山了", "2024-05-14", "2024-05-15"),
    ("前天", "2024-05-13", "2024-05-14"),
    ("大前天", "2024-05-12", "2024-05-13"),
    ("后天见", "2024-05-17", "2024-05-18"),
    ("三天前", "2024-05-12", "2024-05-13"),
    ("10天后", "2024-05-25", "2024-05-26"),
    ("上周吃了什么", "2024-05-06", "2024-05-13"),
    ("上上周", "2024-04-29", "2024-05-06"),
    ("两周前", "2024-04-29", "2024-05-06"),
    ("下个星期", "2024-05-20", "2024-05-27"),
    ("上周五", "2024-05-10", "2024-05-11"),
    ("下周一开会", "2024-05-20", "2024-05-21"),
    ("周三", "2024-05-15", "2024-05-16"),
    ("星期四", "2024-05-09", "2024-05-10"),
    ("上周末", "2024-05-11", "2024-05-13"),
    ("周末去了公园", "2024-05-11", "2024-05-13"),
    ("上个月", "2024-04-01", "2024-05-01"),
    ("三个月前", "2024-02-01", "2024-03-01"),
    ("上个月15号", "2024-04-15", "2024-04-16"),
    ("下个月初", "2024-06-01", "2024-06-11"),
    ("半年前", "2023-11-01", "2023-12-01"),
    ("两年前", "2022-01-01", "2023-01-01"),
    ("去年夏天", "2023-06-01", "2023-09-01"),
    ("今年3月", "2024-03-01", "2024-04-01"),
    ("去年三月五号", "2023-03-05", "2023-03-06"),
    ("去年底", "2023-10-01", "2024-01-01"),
    ("前年", "2022-01-01", "2023-01-01"),
    ("3月15日", "2024-03-15", "2024-03-16"),
    ("八月份", "2023-08-01", "2023-09-01"),
    ("15号", "2024-05-15", "2024-05-16"),
    ("2023年10月1日", "2023-10-01", "2023-10-02"),
    ("二〇二三年五月", "2023-05-01", "2023-06-01"),
    ("2023年国庆", "2023-10-01", "2023-10-08"),
    ("上个季度", "2024-01-01", "2024-04-01"),
    ("2023年第三季度", "2023-07-01", "2023-10-01"),
    ("90年代", "1990-01-01", "2000-01-01"),
    ("前几天", "2024-05-08", "2024-05-15"),
    ("从三月到四月", "2024-03-01", "2024-05-01"),
    ("2023年3月到5月", "2023-03-01", "2023-06-01"),
    ("从10月到2月", "2023-10-01", "2024-03-01"),
    ("yesterday", "2024-05-14", "2024-05-15"),
    ("the day before yesterday", "2024-05-13", "2024-05-14"),
    ("see you tomorrow", "2024-05-16", "2024-05-17"),
    ("three days ago", "2024-05-12", "2024-05-13"),
    ("in 10 days", "2024-05-25", "2024-05-26"),
    ("What did we eat last week?", "2024-05-06", "2024-05-13"),
    ("the week before last", "2024-04-29", "2024-05-06"),
    ("two weeks ago", "2024-04-29", "2024-05-06"),
    ("a couple of weeks ago", "2024-04-29", "2024-05-06"),
    ("last Tuesday", "2024-05-14", "2024-05-15"),
    ("last Wednesday", "2024-05-08", "2024-05-09"),
    ("next Friday", "2024-05-17", "2024-05-18"),
    ("We met on Thursday", "2024-05-09", "2024-05-10"),
    ("Monday last week", "2024-05-06", "2024-05-07"),
    ("last weekend", "2024-05-11", "2024-05-13"),
    ("next month", "2024-06-01", "2024-07-01"),
    ("three months ago", "2024-02-01", "2024-03-01"),
    ("a year ago", "2023-01-01", "2024-01-01"),
    ("last summer", "2023-06-01", "2023-09-01"),
    ("the summer of 2022", "2022-06-01", "2022-09-01"),
    ("last winter", "2023-12-01", "2024-03-01"),
    ("on May 7", "2024-05-07", "2024-05-08"),
    ("May 7th, 2023", "2023-05-07", "2023-05-08"),
    ("7 June 2023", "2023-06-07", "2023-06-08"),
    ("the 3rd of June", "2023-06-03", "2023-06-04"),
    ("May 7-9", "2024-05-07", "2024-05-10"),
    ("in August", "2023-08-01", "2023-09-01"),
    ("last March", "2024-03-01", "2024-04-01"),
    ("last May 7", "2024-05-07", "2024-05-08"),
    ("last March 2023", "2023-03-01", "2023-04-01"),
    ("last May", "2023-05-01", "2023-06-01"),
    ("early June 2023", "2023-06-01", "2023-06-11"),
    ("mid-April", "2024-04-11", "2024-04-21"),
    ("in 2023", "2023-01-01", "2024-01-01"),
    ("back in the 90s", "1990-01-01", "2000-01-01"),
    ("Q3 2023", "2023-07-01", "2023-10-01"),
    ("between March and April", "2024-03-01", "2024-05-01"),
    ("from June to August 2023", "2023-06-01", "2023-09-01"),
    ("from October to February", "2023-10-01", "2024-03-01"),
    ("Christmas was fun", "2023-12-25", "2023-12-26"),
    ("the other day", "2024-05-08", "2024-05-15"),
    ("2024-01-15", "2024-01-15", "2024-01-16"),
    ("日期2024/1/15。", "2024-01-15", "2024-01-16"),
    ("2024-03", "2024-03-01", "2024-04-01"),
    ("12/31/2023", "2023-12-31", "2024-01-01"),
    ("31/12/2023", "2023-12-31", "2024-01-01"),
    ("我last week很忙", "2024-05-06", "2024-05-13"),
]

MOMENTS = [
    ("昨晚", "2024-05-14 18:00", "2024-05-15 00:00"),
    ("昨天下午", "2024-05-14 12:00", "2024-05-14 18:00"),
    ("今天下午3点半", "2024-05-15 15:30", "2024-05-15 16:00"),
    ("明天早上8点", "2024-05-16 08:00", "2024-05-16 09:00"),
    ("下周一上午十点", "2024-05-20 10:00", "2024-05-20 11:00"),
    ("三个小时前", "2024-05-15 06:30", "2024-05-15 07:30"),
    ("半小时后", "2024-05-15 10:25", "2024-05-15 10:35"),
    ("刚才", "2024-05-15 09:00", NOW),
    ("最近", "2024-04-15 00:00", NOW),
    ("过去三天", "2024-05-12 00:00", NOW),
    ("五月以来", "2024-05-01 00:00", NOW),
    ("自从上周五", "2024-05-10 00:00", NOW),
    ("2023年以后", "2024-01-01 00:00", NOW),
    ("last night", "2024-05-14 18:00", "2024-05-15 06:00"),
    ("this morning", "2024-05-15 05:00", "2024-05-15 12:00"),
    ("yesterday evening", "2024-05-14 18:00", "2024-05-15 00:00"),
    ("tomorrow at 9:30", "2024-05-16 09:30", "2024-05-16 10:00"),
    ("last Friday at 5pm", "2024-05-10 17:00", "2024-05-10 18:00"),
    ("three hours ago", "2024-05-15 06:30", "2024-05-15 07:30"),
    ("in half an hour", "2024-05-15 10:25", "2024-05-15 10:35"),
    ("just now", "2024-05-15 09:00", NOW),
    ("recently", "2024-04-15 00:00", NOW),
    ("over the past 3 days", "2024-05-12 00:00", NOW),
    ("since March", "2024-03-01 00:00", NOW),
    ("ever since last Tuesday", "2024-05-14 00:00", NOW),
    ("after May 7", "2024-05-08 00:00", NOW),
    ("2024-01-15T10:30:00Z", "2024-01-15 18:30", "2024-01-15 18:31"),
]

NO_TIMES = [
    "一周三次",
    "每周三都健身",
    "坐3号线",
    "一点也不好",
    "五月天的演唱会",
    "我住在2号楼",
    "I may go",
    "march on",
    "the sun is out",
    "second place",
    "2月30日",
    "version 2024.1",
    "订单A2024-0815",
    "10.0.0.1",
    "8000元",
    "",
    "   ",
]


@pytest.mark.parametrize(("text", "first", "after_last"), DAYS, ids=[text for text, _, _ in DAYS])
def test_days(text: str, first: str, after_last: str) -> None:
    assert local_ranges(text) == [whole_days(first, after_last)]


@pytest.mark.parametrize(("text", "start", "end"), MOMENTS, ids=[text for text, _, _ in MOMENTS])
def test_moments(text: str, start: str, end: str) -> None:
    assert local_ranges(text) == [(start, end)]


@pytest.mark.parametrize("text", NO_TIMES)
def test_words_that_name_no_time(text: str) -> None:
    assert local_ranges(text) == []


def test_before_reaches_back_without_end() -> None:
    for text in ("before 2023", "2023年之前"):
        (found,) = find_times(text, WEDNESDAY, SHANGHAI)
        assert found.range.contains(datetime(1950, 1, 1, tzinfo=UTC))
        assert found.range.end.astimezone(SHANGHAI).strftime(FORMAT) == "2023-01-01 00:00"


def test_offsets_point_into_the_text() -> None:
    text = "上周五和王芳去了上海，since last Monday一直很忙"
    found = find_times(text, WEDNESDAY, SHANGHAI)
    assert [expression.text for expression in found] == ["上周五", "last Monday"]
    assert all(text[item.start_offset : item.end_offset] == item.text for item in found)


def test_relative_and_absolute_are_told_apart() -> None:
    assert [item.relative for item in find_times("昨天 2024-01-15 last week 2023年", WEDNESDAY, SHANGHAI)] == [
        True,
        False,
        True,
        False,
    ]


def test_half_past_midnight_belongs_to_the_local_day() -> None:
    just_after_midnight = datetime(2024, 5, 14, 16, 30, tzinfo=UTC)
    assert local_ranges("昨天", just_after_midnight) == [whole_days("2024-05-14", "2024-05-15")]
    assert local_ranges("yesterday", just_after_midnight) == [whole_days("2024-05-14", "2024-05-15")]
    assert local_ranges("tonight", just_after_midnight) == [("2024-05-14 18:00", "2024-05-15 06:00")]
    assert local_ranges("last night", just_after_midnight) == [("2024-05-14 18:00", "2024-05-15 06:00")]


def test_month_ends() -> None:
    last_of_march = datetime(2024, 3, 31, 12, tzinfo=SHANGHAI)
    assert local_ranges("上个月", last_of_march) == [whole_days("2024-02-01", "2024-03-01")]
    assert local_ranges("a month ago", last_of_march) == [whole_days("2024-02-01", "2024-03-01")]
    new_year = datetime(2024, 1, 1, 9, tzinfo=SHANGHAI)
    assert local_ranges("昨天", new_year) == [whole_days("2023-12-31", "2024-01-01")]
    assert local_ranges("last month", new_year) == [whole_days("2023-12-01", "2024-01-01")]
    assert local_ranges("31号", datetime(2024, 5, 15, tzinfo=SHANGHAI)) == [whole_days("2024-03-31", "2024-04-01")]


def test_leap_days() -> None:
    leap_day = datetime(2024, 2, 29, 12, tzinfo=SHANGHAI)
    assert local_ranges("去年2月", leap_day) == [whole_days("2023-02-01", "2023-03-01")]
    assert local_ranges("明天", leap_day) == [whole_days("2024-03-01", "2024-03-02")]
    assert local_ranges("2月29日", datetime(2026, 5, 1, tzinfo=SHANGHAI)) == [whole_days("2024-02-29", "2024-03-01")]
    assert local_ranges("February 29", datetime(2026, 5, 1, tzinfo=SHANGHAI)) == [
        whole_days("2024-02-29", "2024-03-01")
    ]


def test_days_of_a_clock_change_have_their_real_length() -> None:
    def hours(text: str, reference: datetime) -> float:
        (found,) = find_times(text, reference, NEW_YORK)
        return (found.range.end - found.range.start) / timedelta(hours=1)

    assert hours("yesterday", datetime(2024, 3, 11, 9, tzinfo=NEW_YORK)) == 23
    assert hours("昨天", datetime(2024, 11, 4, 9, tzinfo=NEW_YORK)) == 25
    # 02:30 does not exist on that day; an answer must still come, and be half an hour long.
    assert hours("today at 2:30", datetime(2024, 3, 10, 9, tzinfo=NEW_YORK)) == 0.5


def test_hours_ago_count_real_hours_over_a_clock_change() -> None:
    reference = datetime(2024, 3, 10, 4, 0, tzinfo=NEW_YORK)
    (found,) = find_times("three hours ago", reference, NEW_YORK)
    assert found.range.contains(reference.astimezone(UTC) - timedelta(hours=3))


def test_the_zone_decides_what_yesterday_is() -> None:
    reference = datetime(2024, 5, 15, 2, 0, tzinfo=UTC)
    assert local_ranges("yesterday", reference, NEW_YORK) == [whole_days("2024-05-13", "2024-05-14")]
    assert local_ranges("yesterday", reference, SHANGHAI) == [whole_days("2024-05-14", "2024-05-15")]


def test_the_longer_of_two_overlapping_matches_stays() -> None:
    meaning = TimeRange(datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC))
    short, long, apart = (FoundTime(start, end, meaning, relative=True) for start, end in ((0, 4), (2, 12), (14, 16)))
    assert longest_first([short, apart, long]) == [long, apart]


def test_long_texts_are_read_up_to_the_limit() -> None:
    assert find_times("x " * MAX_CHARACTERS + "yesterday", WEDNESDAY, SHANGHAI) == ()


PHRASES = st.sampled_from([text for text, *_ in DAYS + MOMENTS] + NO_TIMES + list("年月日周到前后上下0123456789-: "))


@given(
    st.lists(PHRASES, max_size=6).map("".join) | st.text(max_size=60),
    st.datetimes(timezones=st.just(UTC)),
    st.sampled_from(
        [
            SHANGHAI,
            NEW_YORK,
            UTC,
            ZoneInfo("America/Sao_Paulo"),
            ZoneInfo("Asia/Kathmandu"),
            timezone(-timedelta(hours=12)),
        ]
    ),
)
def test_never_raises_and_offsets_hold(text: str, moment: datetime, zone: ZoneInfo) -> None:
    done = 0
    for found in find_times(text, moment, zone):
        assert text[found.start_offset : found.end_offset] == found.text
        assert found.start_offset >= done
        done = found.end_offset


@pytest.mark.parametrize("unit", ["1", "1月", "年", "on ", "1-", "上", "last ", "三", "1 day ", "从1月到"])
@pytest.mark.timeout(20)
def test_hostile_text_is_read_in_bounded_time(unit: str) -> None:
    find_times(unit * 50_000, WEDNESDAY, SHANGHAI)
