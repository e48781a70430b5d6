"""Canonical words of the Chinese parts of a query."""

import re
from functools import lru_cache

from rearview.domain.canonical_query import ASKING, SAYING, TIME, CanonicalQuery
from rearview.language.data_files import load_yaml

_NUMERAL = re.compile("[零〇一二三四五六七八九十百千万两]+")
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_MYRIAD = 10_000
_LONGEST_DATE = 16
_WEEKDAY = re.compile("(上上|上个?|这个?|本|下下|下个?)?(?:周|星期|礼拜)([一二三四五六日天])")
_THIS = {"这": "本", "这个": "本", "上个": "上", "下个": "下"}
_DATES = re.compile(
    r"第?[0-9]+(?:个)?季度|[0-9]{4}年(?:[0-9]{1,2}月)?(?:[0-9]{1,2}[日号])?|[0-9]{1,2}月(?:[0-9]{1,2}[日号]?)?"
    r"|[0-9]{1,2}[点时](?:半|[0-9]{1,2}分?|一刻)?(?:钟|整)?"
)
_PARTICLES = "吗呢呀啊吧哦嘛啦了"
_ASKING_PRECISELY = {"clock": "when", "day": "when"}
_FROM_TO = re.compile("从(?=[^从到]{1,8}到)")
_AT_WHEN = re.compile("在(?=哪一?天|几号|什么时候|几点|何时)")
_WHAT_NOUN = re.compile("是(?:什么|哪个|哪种|啥)(?!时候|时间|地方|人|的)([\u4e00-\u9fff]{1,4}?)的?$")
_HAS_NOUN = re.compile("(?<=.{2})都?有(多少[个名位]?|几[个名位]|哪些|什么)([\u4e00-\u9fff]{2,4})$")
# "这份合同" says what it means, "这个呢" does not.
_DETERMINES = re.compile(
    "[个份台本件条张家位次种些部辆间座款只]?+(?![是的呢吗吧了有怎什多几在会能可要和跟对多少还也都])[\u4e00-\u9fff]{2}"
)
_BARE_WHERE = re.compile("哪(?=$|[去来过])")
_A_NOT_A = re.compile(r"([\u4e00-\u9fff]{1,2})[不没]\1")


class _Lexicon:
    def __init__(self) -> None:
        words = load_yaml("cache_lexicon.yaml")["zh"]
        self.frames = _longest_first(words["frames"])
        self.ends = _longest_first(words["ends"])
        self.deictic = frozenset(words["deictic"])
        self.measures = frozenset(words["measures"])
        saying = frozenset(words["saying"])
        entries = {word: word for word in words["kept"]} | dict.fromkeys(words["dropped"], "")
        for first, *others in words["same"]:
            entries |= dict.fromkeys((first, *others), first)
        for name, forms in words["asking"].items():
            entries |= dict.fromkeys(forms, f"{ASKING}{_ASKING_PRECISELY.get(name, name)}")
        self.precision = {form: name for name in _ASKING_PRECISELY for form in words["asking"][name]}
        for word in saying:
            entries[word] = f"{SAYING}{entries.get(word, word)}"
        same_times = {form: first for first, *others in words["same_times"] for form in (first, *others)}
        for word in words["times"]:
            entries[word] = f"{TIME}{same_times.get(word, word)}"
        for word in words["deictic"]:
            entries.setdefault(word, word)
        for word in words["not_deictic"]:
            entries.setdefault(word, word)
        self.entries = entries
        self.longest = max(map(len, entries))


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    return _Lexicon()


def without_chinese_frames(text: str) -> str:
    """Return a query without the request around it: "请问...", "帮我查一下...", "...谢谢"."""
    frames = _lexicon().frames
    while True:
        frame = next((frame for frame in frames if text.startswith(frame) and len(frame) < len(text)), None)
        if frame is None:
            return text
        text = text[len(frame) :].strip()


def without_chinese_ends(text: str) -> str:
    """Return a query without particles and empty question words at its end."""
    ends = _lexicon().ends
    while True:
        text = text.rstrip(_PARTICLES)
        end = next((end for end in ends if text.endswith(end) and len(end) < len(text)), None)
        if end is None:
            return text
        text = text[: -len(end)].strip()


def with_attribute_last(text: str) -> str:
    """Return "X 是什么颜色" as "X 颜色", "X 有多少员工" as "X 员工", "X 有哪些优点" as "X 优点有哪些"."""
    text = _WHAT_NOUN.sub(r"\1", text)
    return _HAS_NOUN.sub(lambda m: m.group(2) + ("" if m.group(1)[0] in "多几" else "有哪些"), text)


def chinese_tokens(run: str) -> CanonicalQuery:
    """Return a run that holds Chinese characters and digits in canonical words."""
    lexicon = _lexicon()
    run = _A_NOT_A.sub(lambda match: "" if match.group(1) == "是" else match.group(1), run)
    run = _BARE_WHERE.sub("哪里", _FROM_TO.sub("", _AT_WHEN.sub("", run)))
    weekdays: list[str] = []

    def note_weekday(match: re.Match[str]) -> str:
        which = match.group(1) or ""
        weekdays.append(f"{TIME}{_THIS.get(which, which)}周{match.group(2).replace('天', '日')}")
        return chr(0xE000 + len(weekdays) - 1)

    run = _WEEKDAY.sub(note_weekday, run)
    found: list[str] = []
    deictic, precision = False, ""
    at = 0
    while at < len(run):
        character = run[at]
        if "\ue000" <= character <= "\uf8ff" and ord(character) - 0xE000 < len(weekdays):
            found.append(weekdays[ord(character) - 0xE000])
            at += 1
            continue
        word = _longest_word(run, at, lexicon)
        if word is not None:
            points = word in lexicon.deictic and not (word[0] in "这那" and _DETERMINES.match(run, at + 1))
            deictic = deictic or points
            precision = lexicon.precision.get(word, precision)
            if lexicon.entries[word]:
                found.append(lexicon.entries[word])
            at += len(word)
            continue
        if character == "第" or character.isdigit() or _NUMERAL.match(character):
            token, length = _number_or_date(run, at, lexicon.measures)
            if token:
                found.append(token)
            at += length
            continue
        found.append(character)
        at += 1
    return CanonicalQuery(tuple(found), deictic, precision)


def _longest_word(run: str, at: int, lexicon: _Lexicon) -> str | None:
    for length in range(min(lexicon.longest, len(run) - at), 0, -1):
        word = run[at : at + length]
        if word in lexicon.entries:
            return word
    return None


def _number_or_date(run: str, at: int, measures: frozenset[str]) -> tuple[str, int]:
    for end in range(min(len(run), at + _LONGEST_DATE), at, -1):
        date = _DATES.fullmatch(_as_digits(run[at:end]))
        if date:
            text = re.sub("[钟整]", "", date.group()).replace("时", "点")
            return f"{TIME}{text.removeprefix('第').replace('个季', '季')}", end - at
    end = at
    numeral = _NUMERAL.match(run, at)
    if numeral:
        end = numeral.end()
        if numeral.group() == "一" and end < len(run) and run[end] in measures and run[at - 1 : at] != "第":
            return "", 2
        return _value(numeral.group()), end - at
    while end < len(run) and run[end].isdigit():
        end += 1
    return run[at : max(end, at + 1)], max(end - at, 1)


def _as_digits(text: str) -> str:
    return _NUMERAL.sub(lambda match: _value(match.group()), text)


def _value(numeral: str) -> str:
    if not any(character in "十百千万" for character in numeral):
        return "".join(str(_DIGITS[character]) for character in numeral)
    total = section = digit = 0
    for character in numeral:
        if character in _UNITS:
            section += (digit or 1) * _UNITS[character]
            digit = 0
        elif character == "万":
            total += (section + digit or 1) * _MYRIAD
            section = digit = 0
        else:
            digit = _DIGITS[character]
    return str(total + section + digit)


def _longest_first(words: list[str]) -> list[str]:
    return sorted(words, key=lambda word: -len(word))
