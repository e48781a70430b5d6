"""Timestamps and durations. Times are aware and in UTC on both sides of the border."""

from datetime import UTC, datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from rearview.rpc.convert.violations import Violations

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_FUTURE = timedelta(hours=24)

_LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z, the last that a Timestamp may hold
_MAX_DURATION_SECONDS = 315_576_000_000


def time_from_proto(timestamp: Timestamp, field: str, found: Violations) -> datetime:
    """Return the moment, cut to microseconds; note it unless it lies in the years 1970 to 9999."""
    if not 0 <= timestamp.seconds <= _LAST_SECOND or not 0 <= timestamp.nanos < 1_000_000_000:
        found.add(field, "must be a time of the years 1970 to 9999")
        return EPOCH
    return EPOCH + timedelta(seconds=timestamp.seconds, microseconds=timestamp.nanos // 1_000)


def past_from_proto(timestamp: Timestamp, field: str, found: Violations, now: datetime) -> datetime:
    """Return the moment; note it if it lies more than 24 hours after `now`, further than clocks and zones go wrong."""
    moment = time_from_proto(timestamp, field, found)
    if moment > now + MAX_FUTURE:
        found.add(field, "must not lie more than 24 hours in the future")
    return moment


def time_to_proto(moment: datetime) -> Timestamp:
    """Return the timestamp of an aware moment."""
    since = moment - EPOCH
    return Timestamp(seconds=since.days * 86_400 + since.seconds, nanos=since.microseconds * 1_000)


def optional_time_to_proto(moment: datetime | None) -> Timestamp | None:
    """Return the timestamp, None for None: message fields take None as unset."""
    return None if moment is None else time_to_proto(moment)


def duration_from_proto(
    duration: Duration, field: str, found: Violations, *, low: timedelta = timedelta(0), high: timedelta
) -> timedelta:
    """Return the duration, cut to microseconds; note it unless it is well-formed and lies in [low, high]."""
    seconds, nanos = duration.seconds, duration.nanos
    well_formed = abs(seconds) <= _MAX_DURATION_SECONDS and abs(nanos) < 1_000_000_000 and (seconds * nanos >= 0)
    length = timedelta(seconds=seconds, microseconds=nanos // 1_000) if well_formed else high + timedelta(days=1)
    if not low <= length <= high:
        found.add(field, f"must be a duration from {_spoken(low)} to {_spoken(high)}")
        return low
    return length


def duration_to_proto(length: timedelta) -> Duration:
    """Return the duration's message."""
    message = Duration()
    message.FromTimedelta(length)
    return message


def _spoken(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    if seconds and seconds % 86_400 == 0:
        return f"{seconds // 86_400} days"
    return f"{seconds} seconds"
