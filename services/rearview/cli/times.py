"""Times and labels as people type and read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rearview.domain.errors import invalid_field

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

TIME_HELP = "ISO 8601, for example 2026-03-01 or 2026-03-01T09:30+08:00; this machine's time zone unless it names one."


def moment(text: str | None, option: str) -> datetime | None:
    """Return the time that was typed; None for none. Raises: InvalidFields: it is no ISO 8601 time."""
    if text is None:
        return None
    try:
        typed = datetime.fromisoformat(text)
        return typed if typed.tzinfo else typed.astimezone()
    except (ValueError, OverflowError):
        raise invalid_field(option, f"{text!r} is no time; {TIME_HELP}") from None


def shown(time: Timestamp) -> str:
    """Return a time in this machine's zone, to the minute; a dash where it is not set."""
    if not (time.seconds or time.nanos):
        return "-"
    return datetime.fromtimestamp(time.seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def labels_of(pairs: Sequence[str], option: str = "label") -> Mapping[str, str]:
    """Return `key=value` texts as a mapping. Raises: InvalidFields: one of them has no equals sign."""
    labels = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found or not key:
            raise invalid_field(option, f"{pair!r} must be key=value")
        labels[key] = value
    return labels
