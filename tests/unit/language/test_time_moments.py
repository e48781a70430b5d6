"""Words of time, Chinese, English and mixed, asked at the moments at which calendars are easily got wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml

from rearview.language.time_expressions import find_times

_TABLE = Path(__file__).with_name("time_moments.yaml")


def _cases() -> Iterator[Any]:
    for moment in yaml.safe_load(_TABLE.read_text(encoding="utf-8")):
        at, zone = datetime.fromisoformat(moment["at"]), ZoneInfo(moment["zone"])
        assert at.replace(tzinfo=None) == at.astimezone(zone).replace(tzinfo=None), "the offset is not the zone's"
        for text, (start, end) in moment["means"].items():
            yield pytest.param(at, zone, text, start, end, id=f"{moment['what']}: {text}")


def _moment(written: str, at: datetime, zone: ZoneInfo) -> datetime:
    if written == "now":
        return at.astimezone(UTC)
    if written.endswith("Z"):
        return datetime.fromisoformat(written)
    return datetime.fromisoformat(written).replace(tzinfo=zone).astimezone(UTC)


@pytest.mark.parametrize(("at", "zone", "text", "start", "end"), list(_cases()))
def test_what_it_means(at: datetime, zone: ZoneInfo, text: str, start: str, end: str) -> None:
    found = find_times(text, at, zone)

    assert [(one.range.start, one.range.end) for one in found] == [(_moment(start, at, zone), _moment(end, at, zone))]
    assert all(edge.tzinfo is UTC for one in found for edge in (one.range.start, one.range.end))


@pytest.mark.parametrize(
    "text",
    [
        "清明上河图在哪个馆",
        "饭前晚一点再说",
        "我之前儿子还小",
        "过年好",
        "上年纪了",
        "end of file",
        "H1 标签写错了",
        "the second half was better",
        "他排第一",
        "a chinese restaurant",
        "同期声",
    ],
)
def test_words_that_only_look_like_times(text: str) -> None:
    assert find_times(text, datetime(2025, 3, 12, tzinfo=UTC), ZoneInfo("Asia/Shanghai")) == ()
