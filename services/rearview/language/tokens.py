"""Keyword tokens for BM25: stemmed English words, Chinese character bigrams, and codes kept whole.

Measured against word segmentation on Chinese dialogue, bigrams found more (.481 against .372 recall@5).
"""

import re
import unicodedata
from functools import lru_cache

import snowballstemmer

from rearview.language.data_files import load_yaml
from rearview.language.scripts import HAN, fold_width

_STOP_WORDS_TEXT = (
    "a an the and or but if so of to in on at by for from with about as into than then that this these those there here"
    " i me my we us our you your he him his she her it its they them their is am are was were be been being do does did"
    " have has had will would can could should may what which who whom"
    " i'm i've i'd i'll you're it's that's don't didn't"
)
STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())

FUNCTION_CHARACTERS = frozenset(
    "的了着过吗呢吧啊呀哦嗯嘛么啦是在我你您他她它们这那哪和与及或就都也还很把被给让对于之其而且但所以因为"
)
"""A bigram that holds one of these says little. Negation and numerals are not among them."""

MAX_TOKEN_CHARACTERS = 64
"""Longer runs are noise (encoded data) and are cut, so that one line cannot fill an index."""

# A code may hold separators when a digit or letter follows each of them: A2024-0815, 1.2.3, foo_bar2, 8,000, 12:30.
_PIECE = re.compile(rf"[a-z0-9][a-z0-9']*(?:(?:[-_.,]|(?<=[0-9]):(?=[0-9]))[a-z0-9]+)*|[{HAN}]+|[^\W\d_a-z{HAN}]+")
_WORD = re.compile(r"[a-z0-9']+")
_HAN_FIRST = re.compile(f"[{HAN}]")
_DIGIT = re.compile("[0-9]")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")
_MARKS = re.compile("[\u0300-\u036f]+")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem by which an English word, in lower case, is found."""
    # A stemmer holds its word in itself; one per call keeps threads apart, and the cache makes calls rare.
    return str(snowballstemmer.stemmer("english").stemWord(_irregular_forms().get(word, word)))


@lru_cache(maxsize=1)
def _irregular_forms() -> dict[str, str]:
    # A question has the base form ("When did she go?"), its answer the past one ("I went yesterday").
    return {str(form): str(base) for base, forms in load_yaml("irregular_en.yaml").items() for form in forms}


def tokens(text: str) -> list[str]:
    """Return the keyword tokens of a text in order, repeats included.

    English words are lower case, without 's, stemmed, without stop words. Chinese gives bigrams without function
    characters; a character with no content neighbour stands as itself. Numbers, ids, versions and codes are whole,
    and their parts follow, so `A2024-0815` is found by itself and by `0815`.
    """
    found: list[str] = []
    for piece in _PIECE.findall(_fold(text)):
        first = piece[0]
        if "a" <= first <= "z" or "0" <= first <= "9":
            _add_latin(piece, found)
        elif _HAN_FIRST.match(first):
            _add_han(piece, found)
        else:
            found.append(piece[:MAX_TOKEN_CHARACTERS])
    return found


class KeywordTokenizer:
    """The `Tokenizer` port over these rules."""

    def tokens(self, text: str) -> list[str]:
        """Return the keyword tokens in order, repeats included."""
        return tokens(text)


def _fold(text: str) -> str:
    """Lower case, plain width, typographic apostrophes straight, and Latin letters without accents."""
    if text.isascii():
        return text.lower()
    folded = fold_width(text).replace("\u2019", "'").lower()
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", folded)))


def _add_latin(piece: str, found: list[str]) -> None:
    words = _WORD.findall(piece)
    if len(words) > 1:
        if _THOUSANDS.fullmatch(piece):
            found.append(piece.replace(",", ""))
            return
        if _DIGIT.search(piece) and "," not in piece:
            found.append(piece[:MAX_TOKEN_CHARACTERS])
            # One-character parts of a version or date match everything and say nothing.
            words = [word for word in words if len(word) > 1]
    for word in words:
        bare = word.strip("'")
        if bare in STOP_WORDS:
            continue
        if bare.endswith("'s"):
            bare = bare[:-2]
        if not bare or bare in STOP_WORDS:
            continue
        found.append((bare if _DIGIT.search(bare) else stem(bare[:MAX_TOKEN_CHARACTERS]))[:MAX_TOKEN_CHARACTERS])


def _add_han(run: str, found: list[str]) -> None:
    content = ""
    for character in run:
        if character in FUNCTION_CHARACTERS:
            _add_bigrams(content, found)
            content = ""
        else:
            content += character
    _add_bigrams(content, found)


def _add_bigrams(content: str, found: list[str]) -> None:
    if len(content) == 1:
        found.append(content)
    found.extend(content[at : at + 2] for at in range(len(content) - 1))
