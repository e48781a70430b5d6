"""The text of an answer for a prompt: dated lines with citation marks, within a budget of tokens."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from rearview.domain.text import Language

HEADING = {Language.ZH: "[相关记忆]", Language.EN: "[Related memories]"}
ELLIPSIS = "…"

# A match is a token: up to four letters of a word, two where it has accents and so falls into shorter ones, two digits.
_ACCENTED = re.compile("[\u00c0-\u024f]")
_TOKEN = re.compile(r"[A-Za-z']{1,4}|[0-9]{1,2}|\S")
_WORD_WITH_ACCENTS = re.compile(r"[A-Za-z']*[\u00c0-\u024f][A-Za-z\u00c0-\u024f']*")
_LETTERS_PER_ACCENTED_TOKEN = 2
_SENTENCE_END = re.compile(r"(?<=[。！？；!?;])|(?<=\.)(?=\s)")


_NO_LINE = ("", 0)


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
    if not _ACCENTED.search(text):
        return len(_TOKEN.findall(text))
    accented = _WORD_WITH_ACCENTS.findall(text)
    rest = _WORD_WITH_ACCENTS.sub(" ", text)
    return len(_TOKEN.findall(rest)) + sum(-(-len(word) // _LETTERS_PER_ACCENTED_TOKEN) for word in accented)


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
        line, tokens = _fitting_line(entry, mark, budget - used, language, zone)
        citations.append(mark if line else "")
        if line:
            lines.append(line)
            used += tokens
    if not lines:
        return ContextText("", 0, tuple(citations))
    return ContextText("\n".join([heading, *lines]), used, tuple(citations))


def _fitting_line(entry: ContextEntry, mark: str, room: int, language: Language, zone: tzinfo) -> tuple[str, int]:
    text = " ".join(entry.text.split())
    colon = "：" if language is Language.ZH else ": "
    speaker = f"{entry.speaker}{colon}" if entry.speaker else ""
    date = entry.occurred_at.astimezone(zone).date().isoformat()
    if not text:
        return _NO_LINE
    whole = f"- {date}: {speaker}{text} {mark}"
    tokens = estimate_tokens(whole)
    if tokens <= room:
        return whole, tokens
    if entry.whole:
        return _NO_LINE
    for end in reversed([match.start() for match in _SENTENCE_END.finditer(text)]):
        line = f"- {date}: {speaker}{text[:end].rstrip()}{ELLIPSIS} {mark}"
        tokens = estimate_tokens(line)
        if end and tokens <= room:
            return line, tokens
    return _NO_LINE
