"""The invariants of text values."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from rearview.domain.text import PiiCategory, Redacted, RedactedSpan, Sentiment, TimeRange

NOON = datetime(2024, 5, 15, 12, tzinfo=UTC)


def test_a_range_is_half_open() -> None:
    hour = TimeRange(NOON, NOON + timedelta(hours=1))
    assert hour.contains(NOON)
    assert not hour.contains(NOON + timedelta(hours=1))
    assert not hour.overlaps(TimeRange(NOON + timedelta(hours=1), NOON + timedelta(hours=2)))
    assert hour.overlaps(TimeRange(NOON - timedelta(hours=1), NOON + timedelta(minutes=1)))


@pytest.mark.parametrize(
    ("start", "end", "field"),
    [
        (NOON.replace(tzinfo=None), NOON, "start"),
        (NOON, NOON.astimezone(timezone(timedelta(hours=8))) + timedelta(hours=1), "end"),
        (NOON, NOON, "end must be after start"),
    ],
)
def test_a_range_refuses_what_is_not_utc_or_empty(start: datetime, end: datetime, field: str) -> None:
    with pytest.raises(ValueError, match=field):
        TimeRange(start, end)


@pytest.mark.parametrize(("valence", "intensity", "field"), [(1.1, 0.5, "valence"), (0.0, -0.1, "intensity")])
def test_sentiment_refuses_what_is_out_of_range(valence: float, intensity: float, field: str) -> None:
    with pytest.raises(ValueError, match=field):
        Sentiment(valence, intensity)


def test_redacted_names_each_category_once() -> None:
    phone, mail = PiiCategory.PHONE, PiiCategory.EMAIL
    redacted = Redacted("", (RedactedSpan(phone, 0, 1), RedactedSpan(mail, 2, 3), RedactedSpan(phone, 4, 5)))
    assert redacted.categories == (phone, mail)
    assert phone.placeholder == "[PHONE]"
