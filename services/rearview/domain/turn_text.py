"""The texts of a turn: how it is found, and how it reads inside an episode."""

from datetime import datetime

from rearview.domain.event import Event, EventRole
from rearview.domain.text import Language

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

_ROLE_NAMES = {
    EventRole.USER: "user",
    EventRole.ASSISTANT: "assistant",
    EventRole.TOOL: "tool",
    EventRole.SYSTEM: "system",
    EventRole.DOCUMENT: "document",
}


_ASKING_ENDS = ("?", "？", "吗", "么", "呢")
_ASKING_MARKS = ("?", "？")
_CLOSING = " \t\n\"'”’」』)）~～"


def is_question(content: str) -> bool:
    """Return whether a turn ends by asking: such a turn seldom tells anything."""
    return content.rstrip(_CLOSING).endswith(_ASKING_ENDS)


def asks(content: str) -> bool:
    """Return whether a turn asks anything, also in passing: the next turn is likely to answer."""
    return is_question(content) or any(mark in content for mark in _ASKING_MARKS)


def unit_text(event: Event, languages: frozenset[Language]) -> str:
    """Return "speaker: text [image: caption] (date)", which is what is embedded and whose tokens are indexed.

    The date stands in the turn's own language, so that "5月" and "May" both find what was said then.
    """
    said = f"{event.speaker}: {event.searchable_text}" if event.speaker else event.searchable_text
    return f"{said} ({_date(event.occurred_at, languages)})"


def memory_unit_text(content: str, occurred_at: datetime, languages: frozenset[Language]) -> str:
    """Return the text by which a memory without turns is found."""
    return f"{content} ({_date(occurred_at, languages)})"


def line(event: Event) -> str:
    """Return the turn as a line of its episode: "speaker: text", the role standing in for a speaker without a name."""
    return f"{event.speaker or _ROLE_NAMES[event.role]}: {event.searchable_text}"


def _date(moment: datetime, languages: frozenset[Language]) -> str:
    if languages == {Language.ZH}:
        return f"{moment.year}年{moment.month}月{moment.day}日"
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
