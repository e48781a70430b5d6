"""The text of an answer for a prompt: dated lines with citation marks, within a budget of tokens."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from rearview.domain.text import Language

HEADING = {Language.ZH: "[相关记忆]", Language.EN: "[Related memories]"}
ELLIPSIS = "…"

_PIECE = re.compile(r"[A-Za-z\u00c0-\u024f']+|[0-9]+|\S")
_LETTERS_PER_TOKEN = 4
_DIGITS_PER_TOKEN = 2
_SENTENCE_END = re.compile(r"(?<=[。！？；!?;])|(?<=\.)(?=\s)")


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """What the context may say of one hit. `whole` text (explicitly remembered) is never cut."""

    text: str
    occurred_at: datetime
    whole: bool = False
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class ContextText:
    """The text, its estimated tokens, and for each entry its citation mark, empty where there was no room."""

    text: str
    tokens: int
    citations: tuple[str, ...]


def estimate_tokens(text: str) -> int:
    """Return how many tokens a model's tokenizer makes of a text, estimated from above for common ones.

    A Chinese character, a sign or an emoji is one; words are one for each four letters begun, numbers one for each
    two digits begun. The estimate of lines joined by line breaks is the sum of their estimates.
    """
    total = 0
    for piece in _PIECE.findall(text):
        if piece[0].isdecimal() and piece.isascii():
            total += -(-len(piece) // _DIGITS_PER_TOKEN)
        elif piece.isascii() and piece[0].isalpha():
            total += -(-len(piece) // _LETTERS_PER_TOKEN)
        elif len(piece) > 1:
            # Words with accents fall into shorter tokens.
            total += -(-len(piece) // 2)
        else:
            total += 1
    return total


def compose(entries: Sequence[ContextEntry], *, budget: int, language: Language, zone: tzinfo) -> ContextText:
    """Return the entries, best first, as one text of at most `budget` tokens.

    An entry that does not fit is cut after a sentence; if not one sentence fits, or it must stay whole, it is left
    out and the next one is tried. Dates are those of `zone`.
    """
    heading = HEADING[language]
    used = estimate_tokens(heading)
    lines: list[str] = []
    citations: list[str] = []
    for entry in entries:
        mark = f"[{len(lines) + 1}]"
        line = _fitting_line(entry, mark, budget - used, language, zone)
        citations.append(mark if line else "")
        if line:
            lines.append(line)
            used += estimate_tokens(line)
    if not lines:
        return ContextText("", 0, tuple(citations))
    return ContextText("\n".join([heading, *lines]), used, tuple(citations))


def _fitting_line(entry: ContextEntry, mark: str, room: int, language: Language, zone: tzinfo) -> str:
    text = " ".join(entry.text.split())
    colon = "：" if language is Language.ZH else ": "
    speaker = f"{entry.speaker}{colon}" if entry.speaker else ""
    date = entry.occurred_at.astimezone(zone).date().isoformat()
    if not text:
        return ""
    whole = f"- {date}: {speaker}{text} {mark}"
    if estimate_tokens(whole) <= room:
        return whole
    if entry.whole:
        return ""
    for end in reversed([match.start() for match in _SENTENCE_END.finditer(text)]):
        line = f"- {date}: {speaker}{text[:end].rstrip()}{ELLIPSIS} {mark}"
        if end and estimate_tokens(line) <= room:
            return line
    return ""
