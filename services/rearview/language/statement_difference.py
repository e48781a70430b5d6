"""What keeps two statements apart, however alike they look: numbers, negation, asking, words of content.

Vectors do not see such differences: "I like tea" and "I like coffee" are nearer to each other than most paraphrases.
Where this errs, it keeps two things apart that say the same, which costs a memory; the other way would lose one.
"""

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from rearview.language.facts.amounts import spelled_number
from rearview.language.scripts import fold_width, has_han, languages
from rearview.language.signals import is_question
from rearview.language.tokens import tokens


def _words(listed: str) -> list[str]:
    return listed.split()


_NUMBER = re.compile(r"[0-9]+(?:,[0-9]{3})+(?![0-9])|[0-9]+(?:[.:/-][0-9]+)*")
_SCALED = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<scale>[万千百亿]|k\b|thousand\b|million\b|m\b)", re.IGNORECASE
)
_SCALE = {"百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000, "k": 1_000, "thousand": 1_000, "million": 1_000_000}
_ZH_NUMERAL = re.compile("[零〇一二两三四五六七八九十百千万亿]+")
# 一起, 一点, 统一: numerals that count nothing. Weekdays and months count, since they tell dates apart.
_ZH_IDIOM = re.compile(
    "一[起些下直样般定点切边面旦向共致会时块]|[统唯同第专]一|万[一分能物岁]|十分|千万别|百分之|再三|三明治|四川|两口子"
)
_EN_NUMBERS = {
    word: value
    for value, word in enumerate(
        _words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
            " sixteen seventeen eighteen nineteen"
        )
    )
} | {word: 10 * (at + 2) for at, word in enumerate(_words("twenty thirty forty fifty sixty seventy eighty ninety"))}
_WEEKDAYS = {name: f"weekday {at}" for at, name in enumerate(_words("mon tues wednes thurs fri satur sun"), start=1)}
_EN_WEEKDAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_ZH_WEEKDAY = re.compile("(?:周|星期|礼拜)([一二三四五六日天])")
_ZH_WEEKDAYS = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 7, "天": 7}
_MONTHS = {
    name: at
    for at, name in enumerate(
        _words("january february march april may june july august september october november december"), start=1
    )
}
# "May" and "March" are words of other meanings unless they begin with a capital.
_EN_MONTH = re.compile(
    r"\b(?:(?i:january|february|april|june|july|august|september|october|november|december)|March|May)\b"
)
_ZH_MONTH = re.compile("(十[一二]?|[一二三四五六七八九]|1[0-2]|[1-9])月(?!薪|租)")
_EN_NUMERAL = re.compile(
    r"\b(?:(?:" + "|".join(_EN_NUMBERS) + r"|hundred|thousand|million)(?:[ -](?:and )?)?)+\b", re.IGNORECASE
)
_EN_IDIOM = re.compile(
    r"\b(?:no|some|any|every|each|that|this|the|last|next|other|which|first) one\b|\bone (?:of|another)\b",
    re.IGNORECASE,
)

_ZH_NEGATION = re.compile(
    "不(?!过|停|仅|但|错|久|断|管|论|好意思|客气)|没(?!问题|事)|(?<![特分区级类性告])别(?![人的墅名针])|无法|从未|未曾|尚未|讨厌|停止|戒"
)
_EN_NEGATION = re.compile(
    r"\b(?:not|no|never|none|without|nor|neither|hardly|cannot|stopped|quit|hate[sd]?|dislike[sd]?)\b|n't\b",
    re.IGNORECASE,
)

_FILLERS = frozenset(
    tokens(
        "by the way just really actually also too well please again anyway okay ok yes hey hi hello oh still right now"
    )
) | frozenset(
    _words(
        "对了 其实 实真 真的 顺便 便说 再说 说一 一遍 一下 总之 反正 另外 还有"
        " 好 嗯 呀 请 要 会 有 来 说 说到 再次 重申"
    )
)
_FRAME = 0.5
"""From this share of the shorter text's words on, two texts are one frame, and other words in it other contents."""

# No words of content, but what stands on either side of them may not be exchanged.
_DIRECTION = re.compile(r"\b(than|over|from|to|before|after|because|by|instead)\b", re.IGNORECASE)

_MOST_ORDERED = 32
"""So many words of two texts are compared by their order, the first ones."""

_FEWEST_WORDS = 3
"""A shorter statement stands and falls with each of its words ("I am vegan")."""


def numbers(text: str) -> frozenset[str]:
    """Return the numbers, weekdays and months of a text: 8,000, 8千, 八千 and eight thousand are 8000 alike.

    One is none of them: 一 and "one" are articles more often than numbers.
    """
    return _numbers_and_rest(text)[0]


@lru_cache(maxsize=256)  # a new statement is compared with a score of others, one after the other
def _numbers_and_rest(text: str) -> tuple[frozenset[str], str]:
    """Return the numbers of a text, and the text without them."""
    rest = fold_width(text)
    found: list[str] = []

    def weekday(match: re.Match[str]) -> str:
        name = match[1].lower()
        found.append(_WEEKDAYS.get(name) or f"weekday {_ZH_WEEKDAYS[name]}")
        return " "

    def month(match: re.Match[str]) -> str:
        written = match.group().lower()
        value = _MONTHS.get(written) or (int(match[1]) if match[1].isdecimal() else spelled_number(match[1]))
        found.append(f"month {value}")
        return " "

    def scaled(match: re.Match[str]) -> str:
        scale = _SCALE.get(match["scale"].lower(), 1_000_000)
        found.append(_plain(Decimal(match["number"]) * scale))
        return " "

    def digits(match: re.Match[str]) -> str:
        found.append(_digits(match.group()))
        return " "

    for pattern, read in ((_EN_WEEKDAY, weekday), (_ZH_WEEKDAY, weekday), (_EN_MONTH, month), (_ZH_MONTH, month)):
        rest = pattern.sub(read, rest)
    rest = _NUMBER.sub(digits, _SCALED.sub(scaled, rest))

    def chinese(match: re.Match[str]) -> str:
        value = spelled_number(match.group())
        found.append(str(value) if value is not None else match.group())
        return " "

    def english(match: re.Match[str]) -> str:
        found.append(str(_english(match.group())))
        return " "

    if has_han(rest):
        rest = _ZH_NUMERAL.sub(chinese, _ZH_IDIOM.sub(" ", rest))
    rest = _EN_NUMERAL.sub(english, _EN_IDIOM.sub(" ", rest))
    return frozenset(found) - {"1"}, rest


def difference(first: str, second: str) -> str | None:
    """Return what keeps the second text from being the first said again, None if nothing is found."""
    if is_question(first) != is_question(second):
        return "question"
    if numbers(first) != numbers(second):
        return "numbers"
    if _negations(first) != _negations(second):
        return "negation"
    if not (languages(first) & languages(second)):
        return None
    mine, theirs = _content(first), _content(second)
    only_mine, only_theirs = mine - theirs, theirs - mine
    if only_theirs and not only_mine:
        return "words"
    if _is_turned_round(first, second):
        return "order"
    shared = len(mine & theirs)
    shorter = min(len(mine), len(theirs))
    if only_mine and only_theirs and (shorter < _FEWEST_WORDS or shared >= _FRAME * shorter):
        return "words"
    return None


def _is_turned_round(first: str, second: str) -> bool:
    """Whether two words have changed places round a third ("a call rather than a letter", "the dog bit the man"). A
    clause that has moved to the front as a whole leaves nothing between that was there before."""
    mine, theirs = _order(first), _order(second)
    shared = [word for word in mine if word in theirs][:_MOST_ORDERED]
    theirs = {word: theirs[word] for word in shared}
    if sorted(shared, key=theirs.__getitem__) == shared:
        return False
    return any(
        theirs[before] > theirs[pivot] > theirs[after]
        for at, pivot in enumerate(shared)
        for before in shared[:at]
        for after in shared[at + 1 :]
    )


def _order(text: str) -> dict[str, int]:
    """Return the words of content of a text, with those that give a direction, and where each stands first."""
    places: dict[str, int] = {}
    for at, word in enumerate(tokens(_DIRECTION.sub(r"x\1x", _numbers_and_rest(text)[1]))):
        if word not in _FILLERS:
            places.setdefault(word, at)
    return places


def adds_words(first: str, second: str) -> bool:
    """Return whether the second text has words of content that the first lacks, where they share a language."""
    return bool(languages(first) & languages(second)) and bool(_content(second) - _content(first))


def _content(text: str) -> set[str]:
    return set(tokens(_numbers_and_rest(text)[1])) - _FILLERS


def _negations(text: str) -> int:
    """Whether an odd number of negations stands in a text, as 0 or 1."""
    folded = fold_width(text).replace("\u2019", "'")
    return (len(_EN_NEGATION.findall(folded)) + len(_ZH_NEGATION.findall(folded))) % 2


def _digits(written: str) -> str:
    bare = written.replace(",", "")
    try:
        return _plain(Decimal(bare))
    except InvalidOperation:
        return bare


def _plain(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _english(written: str) -> int:
    total = current = 0
    for word in re.findall("[a-z]+", written.lower()):
        if word == "hundred":
            current = (current or 1) * 100
        elif word in ("thousand", "million"):
            total += (current or 1) * _SCALE[word]
            current = 0
        elif word != "and":
            current += _EN_NUMBERS[word]
    return total + current
