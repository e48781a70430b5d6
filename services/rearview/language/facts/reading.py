"""From the words of a value to a value that can be compared, by an attribute's value type."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from rearview.language.facts.amounts import MONEY, NUMBER, amount, currency, plain
from rearview.language.facts.attributes import Attribute, ValueType
from rearview.language.facts.dates import ahead, birthday
from rearview.language.facts.statement import NAME_EN, NAME_ZH
from rearview.language.facts.values import MAX_VALUE_CHARACTERS, tidy, value_key

PLACEHOLDER = re.compile(r"\[[A-Z_]{2,20}(?:_[0-9]{1,4})?\]")
"""What redaction leaves; it is no value."""

_ABOUT = (
    r"(?:大概|大约|差不多|约|每个?月|每年|一个月|一年|一共|总共|只有|就"
    r"|about |around |roughly |approximately |only |just |still |like |somewhere around |approx\.? |maybe |~)*"
)
_AFTER = (
    r"(?:左右|上下|以内|出头|吧|了|啦|哦|呢|的|啊|呀)*"
    r"(?: (?:or so|now|total|in total|at most|max|at the moment|tops|ish|all in|altogether))?"
    r"(?:\s?(?:per|a|an|each|every|/|每|一)\s?(?:month|year|week|day|annum|mo|yr|wk|person|head|night|月|年|个月|个人"
    r"|人)| (?:monthly|annually|yearly))?"
    r"(?: (?:before|after) tax(?:es)?| gross| net| plus .{2,30}| including .{2,30}| max| tops| all in)?"
    r"(?:,? (?:in|since|last|this) [a-z0-9 ]{3,20})?"
    r"(?: for (?:(?:the|this|my) [a-z ]{1,30}|two|three|four|us|both of us|the two of us))?"
)
_MONEY = re.compile(rf"{_ABOUT}{MONEY}{_AFTER}\s*$", re.IGNORECASE)
_NAME = re.compile(rf"(?:{NAME_EN}|{NAME_ZH}|[\u4e00-\u9fff·]{{2,8}})\s*$")
_NO_TEXT = re.compile(
    r"^(?:什么|多少|哪|谁|不|没|很|太|这|那|我|你|他|她|它|好|最|越"
    r"|(?:very|too|not|so|what|how|who|that|this|it|my|your|his|her|their|in|on|at(?!&)|to|from|for|of|with|about"
    r"|getting|being|going"
    r"|important|good|bad|great|nice|better|worse|here|there|same|different|where|when|why|because|been|never|always"
    r"|still"
    r"|(?:a|an|the) (?:mess|problem|lot|bit|same|one|good|bad|great|nice|real))\b)",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"(?:[a-z]+(?:ible|able|ful|ous|less|ive)|(?:confus|annoy|work|chang|miss|approach|com|bor|amaz|pend|fail|runn"
    r"|gett)ing|broken|down|up"
    r"|wrong|full|dead|gone|empty|slow|fast|weird|awful|fine|okay|ok|unknown|private|secret|closed|open|late|early"
    r"|high|low|tight"
    r"|short|long|big|small|huge|expensive|cheap)$"
)
_TRAILING_DE = re.compile("(?<=..)的$")
_MAX_TEXT_WORDS = 6
# "我手机号是联通的" tells no number.
_SHAPES = {"phone": re.compile("[0-9].*[0-9].*[0-9].*[0-9].*[0-9]"), "email": re.compile("@|\\bat\\b")}


@dataclass(frozen=True, slots=True)
class Value:
    """A value as kept, in the form that equal ones share, and its unit."""

    value: str
    key: str
    unit: str | None = None


def read_value(attribute: Attribute, written: str, reference: datetime | None) -> Value | None:
    """Return the value that words say for an attribute; None where they are no value of its type."""
    said = written.strip(" .,，。!！")
    if not said or len(said) > MAX_VALUE_CHARACTERS or PLACEHOLDER.search(said):
        return None
    if attribute.value is ValueType.MONEY:
        match = _MONEY.match(said)
        return money(groups_of(match)) if match else None
    if attribute.value is ValueType.NUMBER:
        match = _number(attribute).match(said)
        return measure(attribute, groups_of(match)) if match else None
    if attribute.value is ValueType.BIRTHDAY:
        day = birthday(said)
        return Value(day, day) if day else None
    if attribute.value is ValueType.DATE:
        time = ahead(said, reference) if reference else None
        return Value(time.day, time.day) if time and _mostly_time(said, time.end - time.start) else None
    if attribute.value is ValueType.NAME:
        return text_value(said) if _NAME.match(said) else None
    if (shape := _SHAPES.get(attribute.name)) and shape.search(said) is None:
        return None
    if _NO_TEXT.match(said) or _COMMENT.match(said) or said.count(" ") >= _MAX_TEXT_WORDS:
        return None
    return text_value(_TRAILING_DE.sub("", said))


def text_value(written: str) -> Value | None:
    """Return words as a value; None where nothing is left of them."""
    said = tidy(written)
    if not said or len(said) > MAX_VALUE_CHARACTERS or PLACEHOLDER.search(said):
        return None
    return Value(said, value_key(said))


def money(groups: Mapping[str, str]) -> Value | None:
    """Return a sum of money from the groups of MONEY."""
    value = amount(groups)
    return None if value is None else Value(plain(value), plain(value), currency(groups))


def measure(attribute: Attribute, groups: Mapping[str, str]) -> Value | None:
    """Return a number in the attribute's own unit, from the groups of NUMBER and `unit`."""
    value = amount(groups)
    if value is None:
        return None
    try:
        factor = Decimal(str(attribute.units.get(groups.get("unit", "").lower(), 1)))
        said = plain(value * factor)
    except InvalidOperation:
        return None
    return Value(said, said, attribute.unit)


def groups_of(match: re.Match[str]) -> dict[str, str]:
    """The groups that took part in a match."""
    return {name: value for name, value in match.groupdict().items() if value}


def _mostly_time(said: str, length: int) -> bool:
    return length * 2 >= len(said)


@lru_cache(maxsize=512)
def _number_pattern(units: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(unit) for unit in sorted(units, key=lambda unit: (-len(unit), unit)))
    unit = f"(?P<unit>{alternatives})?" if units else ""
    return re.compile(rf"{_ABOUT}{NUMBER}\s?{unit}(?: (?:old|tall))?{_AFTER}\s*$", re.IGNORECASE)


def _number(attribute: Attribute) -> re.Pattern[str]:
    return _number_pattern(tuple(attribute.units))
