"""Queries in canonical words: what is left of a question when its manner is taken away.

The words of one language are treated by its rules; a query of both by both, each its own part. Codes, numbers and the
signs that change a meaning (+ - = < > # % $) stay.
"""

import re
import unicodedata
from functools import lru_cache

from rearview.domain.canonical_query import CanonicalQuery
from rearview.language.canonical_en import english_tokens
from rearview.language.canonical_zh import (
    chinese_tokens,
    with_attribute_last,
    without_chinese_ends,
    without_chinese_frames,
)
from rearview.language.scripts import HAN, fold_width

LEXICON_VERSION = "1"
"""Part of what a cached answer is kept under; raised with every change of rules or lexicon."""

_MOST_KNOWN = 1_024
_LONGEST_KNOWN = 1_000
"""Characters of a query whose canonical words are worth keeping."""

_MARKS = re.compile("[\u0300-\u036f]")
_ACRONYM = re.compile(r"\b[A-Z]{2,5}\b")
_LOWER = re.compile("[a-z]")
_BETWEEN = r"[\s。？！，、；：“”‘’「」《》（）()\[\]{}\"!?;,]"
# A run at the end is looked at from its beginning only: from everywhere, a long one would cost its square.
_NEEDLESS = re.compile(rf"(?<=[{HAN}0-9]){_BETWEEN}++(?=[{HAN}])|(?<!{_BETWEEN}){_BETWEEN}++$")
_PIECE = re.compile(
    rf"[0-9]*[{HAN}][{HAN}0-9]*|(?<![a-z0-9])-?[0-9]+(?:[.:,/-][0-9]+)*|[a-z]+(?:'[a-z]+)*\+\+|[a-z]#|[a-z]+(?:'[a-z]+)*'?(?![0-9])"
    r"|[a-z0-9]+(?:[_.-][a-z0-9]+)*|[^\s\w.。?!,'\"-]+|[^\W]"
)
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_THOUSAND_K = re.compile(r"(?<![a-z0-9.])([0-9]+)k(?![a-z0-9])")
_CURRENCY = re.compile(r"([$€£¥])\s*([0-9]+(?:\.[0-9]+)?)")
_CLOCK = re.compile(r"(?<![a-z0-9:])([0-9]{1,2}(?::[0-9]{2})?)\s*([ap])\.?m\.?(?![a-z0-9])")
_ISO_DATE = re.compile(r"(?<![0-9])([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})(?![0-9])")
_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yuan"}
_HAN_FIRST = re.compile(f"[{HAN}]")


class LexiconCanonicaliser:
    """The `QueryCanonicaliser` port."""

    version = LEXICON_VERSION

    def __init__(self) -> None:
        self._known = lru_cache(_MOST_KNOWN)(canonical_query)

    def canonical(self, text: str) -> CanonicalQuery:
        """Return a query in canonical words; of one that was asked a moment ago they are known."""
        return self._known(text) if len(text) <= _LONGEST_KNOWN else canonical_query(text)


def canonical_query(text: str) -> CanonicalQuery:
    """Return a query in canonical words; empty for a text without any."""
    folded = _folded(text)
    if _HAN_FIRST.search(folded):
        folded = with_attribute_last(without_chinese_ends(without_chinese_frames(_joined_han(folded))))
    parts: list[CanonicalQuery] = []
    words: list[str] = []
    for piece in _PIECE.findall(folded):
        if not _HAN_FIRST.search(piece):
            words.append(piece)
            continue
        if words:
            parts.append(english_tokens(words))
            words = []
        parts.append(chinese_tokens(piece))
    if words:
        parts.append(english_tokens(words))
    return CanonicalQuery(
        tuple(token for part in parts for token in part.tokens),
        any(part.deictic for part in parts),
        next((part.precision for part in parts if part.precision), ""),
    )


def _folded(text: str) -> str:
    text = fold_width(text).replace("\u2019", "'").strip()
    if _LOWER.search(text):
        # "US" is not "us", and "IT" not "it"; in a text of capitals nothing can be told.
        text = _ACRONYM.sub(lambda match: f"{match.group()}_", text) if not text.isupper() else text
    text = _MARKS.sub("", unicodedata.normalize("NFD", text.lower()))
    text = unicodedata.normalize("NFC", text)
    text = _THOUSAND_K.sub(r"\g<1>000", _THOUSANDS.sub("", text))
    text = _CLOCK.sub(r"\1 \2m", text)
    text = _ISO_DATE.sub(lambda m: f"{m.group(1)}年{int(m.group(2))}月{int(m.group(3))}日", text)
    return _CURRENCY.sub(lambda match: f"{match.group(2)} {_CURRENCIES[match.group(1)]}", text)


def _joined_han(text: str) -> str:
    """Punctuation and blanks between Chinese characters say nothing."""
    return _NEEDLESS.sub("", text).strip(" 。?!,.，？！")
