"""Which scripts a text is written in, and folding of character width."""

import re
import unicodedata

from rearview.domain.text import Language

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Ranges of Chinese characters, for use inside a regular expression's brackets."""

_HAN = re.compile(f"[{HAN}]")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
_CODE = re.compile("[A-Za-z]*[0-9][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*")

_MINOR_SHARE = 0.15

# 1:1 in length, unlike NFKC, so that offsets found in the folded text hold in the original.
_WIDTH_TABLE = {0xFF01 + offset: 0x21 + offset for offset in range(94)} | {0x3000: 0x20}


def fold_width(text: str) -> str:
    """NFKC: full-width forms, ligatures and compatibility characters become their plain forms."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def fold_width_in_place(text: str) -> str:
    """Full-width ASCII becomes plain ASCII; the length, and so every offset, stays."""
    return text if text.isascii() else text.translate(_WIDTH_TABLE)


def has_han(text: str) -> bool:
    """Whether any Chinese character occurs."""
    return not text.isascii() and _HAN.search(text) is not None


def script_shares(text: str) -> tuple[float, float]:
    """Shares of Chinese and of Latin writing, a character and a word weighing the same; (0, 0) without either.

    Codes (`A2024-0815`) belong to no language and count for neither.
    """
    folded = fold_width_in_place(text)
    han = 0 if folded.isascii() else len(_HAN.findall(folded))
    latin = len(_LATIN_WORD.findall(_CODE.sub(" ", folded)))
    total = han + latin
    return (han / total, latin / total) if total else (0.0, 0.0)


def languages(text: str) -> frozenset[Language]:
    """The languages of a text; mixed text has both, text without letters has none.

    A language counts from a share of 15 %, a Chinese character and a Latin word weighing the same.
    """
    zh_share, en_share = script_shares(text)
    shares = {Language.ZH: zh_share, Language.EN: en_share}
    return frozenset(language for language, share in shares.items() if share >= _MINOR_SHARE)
