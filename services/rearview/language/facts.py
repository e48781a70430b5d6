"""Facts about the speaker that a turn states clearly. Precision comes first: when in doubt, nothing.

Questions, hypotheticals, plans, the past, reported speech, quotations and other persons give no facts, and neither
does any turn that no person spoke.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from rearview.domain.text import FactCandidate, Polarity
from rearview.language.aliases import canonical
from rearview.language.data_files import load_yaml
from rearview.language.fact_rules import RULES, FactRule
from rearview.language.scripts import fold_width_in_place
from rearview.language.signals import is_question

SPEAKING_ROLES = frozenset(("user", "human", "participant"))
"""Roles whose turns can state facts; what assistants, tools and documents say is theirs."""

MAX_CHARACTERS = 4_000
_MAX_CLAUSE = 160
_MAX_VALUE = 60
SUBJECT = "user"

_SENTENCE = re.compile(r"[^。！？!?\n；;]*?(?:[。！？!?\n；;]+|(?<![0-9])\.(?=\s|$)|(?<=[0-9])\.(?=\s|$)|$)")
_CLAUSE_END = re.compile(
    r"[，：]|[,:](?![0-9])|(?<![0-9])[,:]|[(（)）]|\s[-–—]\s|…+|\.{2,}|\.$|[。！？!?；;\n]+|、(?=我)"
)
_QUOTED = re.compile('"[^"\n]{0,200}"|“[^”\n]{0,200}”|「[^」\n]{0,200}」')

_UNREAL = re.compile(
    "如果|假如|假设|要是|万一|倘若|的话|可能|也许|或许|好像|似乎|希望|想要|打算|计划|准备|考虑|梦想|以前"
    "|曾经|当年|原来|本来|小时候|差点"
    r"|\b(?:if|would|could|might|maybe|perhaps|suppose|supposing|imagine|wish|hope|hoping|plan(?:ning)? to"
    r"|thinking (?:of|about)"
    r"|used to|when i was|as a (?:kid|child)|unless|pretend|not sure|i'd|we'd|going to|about to|almost|nearly)\b",
    re.IGNORECASE,
)
# "我曾经去过" is a fact of the past that stays true.
_STAYS_TRUE = re.compile("去过|已经")
_REPORTED = re.compile(
    r"(?:[他她它]们?|妈妈?|爸爸?|朋友|同事|老板|客户|老师|医生)(?:们|总|也|就|都|曾|刚才?)*(?:说|告诉|表示"
    r"|问|觉得|认为)"
    r"|\b(?:he|she|they|mom|dad|boss|friend|sister|brother|wife|husband|[A-Z][a-z]+) (?:said|says|told"
    r"|tells|asked|asks|claims|thinks)\b"
)
_OPENERS = re.compile(
    r"\s*(?:(?:对了|其实|嗯+|哦|那个|请(?:你)?记住|记住|记一下|帮我记一下|顺便说一下|另外|而且|还有|因为"
    r"|所以|但是|但|不过|然后|大家好|你好|嗨|哈喽|好的|是的"
    r"|by the way|actually|also|and|but|so|well|oh|hi|hello|hey|yes|yeah|ok|okay|(?:please )?remember"
    r"(?: that)?|note(?: that)?|just so you know"
    r"|fyi|btw|honestly|because|as you know|update|for the record)(?![a-z])[\s,，:：]*)*",
    re.IGNORECASE,
)
_ME = "我"
_WITHOUT_SUBJECT = re.compile(
    "(?:现在|目前)?(?:住在|在[^，。]{2,16}(?:工作|上班)|是一?[名个位]|喜欢|不喜欢|讨厌|爱[吃喝看]"
    "|对[^，。]{1,12}过敏|养了?[一两])"
)
_LIST = re.compile(r"\s*(?:、|，|,\s*and\s|,|和|跟|以及|还有|\sand\s|\s&\s)\s*")
_ZH_VERB = re.compile("^(?:去)?[吃喝看听玩用](?=.)")
_ZH_PARTICLE = re.compile("(?:了|的|啊|呢|吧|啦|哦|呀)+$")
_MAX_ITEM, _MAX_ITEM_WORDS = 24, 2
# "I love the energy", "I like holding them": of the moment, and nothing that could be looked up later.
_SITUATIONAL = re.compile(
    r"^(?:the (?!ocean|sea|beach|mountains?|outdoors|rain|snow|piano|guitar|violin)|to$|not )"
    r"|\b(?:them|this|that|these|those|it|him|here|there)\b|那种|这种|的时候|的感觉",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:an?|the|some|my)\s", re.IGNORECASE)
_CURRENCIES = {
    "元": "CNY", "块": "CNY", "块钱": "CNY", "人民币": "CNY", "yuan": "CNY", "rmb": "CNY", "cny": "CNY",
    "¥": "CNY", "￥": "CNY",
    "美元": "USD", "美金": "USD", "dollar": "USD", "dollars": "USD", "usd": "USD",
    "$": "USD", "欧元": "EUR", "euro": "EUR",
    "euros": "EUR", "eur": "EUR", "€": "EUR", "英镑": "GBP", "pound": "GBP", "pounds": "GBP", "gbp": "GBP", "£": "GBP",
    "日元": "JPY", "港币": "HKD",
}  # fmt: skip
_SCALES = {"万": 10_000, "千": 1_000, "k": 1_000, "thousand": 1_000, "million": 1_000_000}
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A known attribute: whether it holds one value at a time, and what it is called in both languages."""

    name: str
    single_valued: bool
    aliases: tuple[str, ...]


class RuleFactExtractor:
    """The `FactExtractor` port over these rules."""

    def extract_facts(self, text: str, role: str) -> tuple[FactCandidate, ...]:
        """Return what the speaker states about themself; nothing for roles that are no persons."""
        return extract_facts(text, role)


@lru_cache(maxsize=1)
def attributes() -> dict[str, Attribute]:
    """The known attributes by name."""
    return {
        name: Attribute(name, bool(entry["single_valued"]), tuple(entry["aliases"]))
        for name, entry in load_yaml("attributes.yaml").items()
    }


def extract_facts(text: str, role: str) -> tuple[FactCandidate, ...]:
    """Return the facts a turn states about its speaker, in order. Never raises on text."""
    if role not in SPEAKING_ROLES:
        return ()
    folded = fold_width_in_place(text[:MAX_CHARACTERS]).replace("\u2019", "'")
    # Quotations are somebody else's words; blanks keep the offsets.
    folded = _QUOTED.sub(lambda match: " " * len(match.group()), folded)
    found: list[FactCandidate] = []
    for start, sentence in _sentences(folded):
        if is_question(sentence) or _REPORTED.search(sentence):
            continue
        if _UNREAL.search(sentence) and not _STAYS_TRUE.search(sentence):
            continue
        about_me = False
        for clause_start, clause in _clauses(start, sentence):
            if about_me and _WITHOUT_SUBJECT.match(clause):
                # "我叫李雷，住在北京": the second clause speaks of the first one's subject.
                found += _facts_of_clause(clause_start, clause, subject=_ME)
            else:
                found += _facts_of_clause(clause_start, clause)
            about_me = clause.startswith(_ME) or (about_me and _WITHOUT_SUBJECT.match(clause) is not None)
    return tuple(
        {(fact.subject, fact.attribute, fact.value, fact.polarity): fact for fact in reversed(found)}.values()
    )[::-1]


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    for match in _SENTENCE.finditer(text):
        if match.group().strip():
            yield match.start(), match.group()


def _clauses(start: int, sentence: str) -> Iterator[tuple[int, str]]:
    at = 0
    for match in [*_CLAUSE_END.finditer(sentence), None]:
        end = match.start() if match else len(sentence)
        clause = sentence[at:end]
        opened = _OPENERS.match(clause)
        skipped = opened.end() if opened else 0
        if clause[skipped:].strip() and len(clause) <= _MAX_CLAUSE:
            yield start + at + skipped, clause[skipped:].rstrip()
        at = match.end() if match else end
    # A name with a comma in it ("peanuts, shrimp and milk") needs the whole sentence.
    whole = sentence.rstrip(" 。！？!?.；;\n")
    if len(whole) <= _MAX_CLAUSE and _LIST_INSIDE.search(whole):
        opened = _OPENERS.match(whole)
        skipped = opened.end() if opened else 0
        yield start + skipped, whole[skipped:]


_LIST_INSIDE = re.compile(r"allergic to [a-z]+, |, and ", re.IGNORECASE)


def _facts_of_clause(start: int, clause: str, *, subject: str = "") -> list[FactCandidate]:
    for rule in RULES:
        match = rule.pattern.match(subject + clause)
        if match:
            groups = {name: value for name, value in match.groupdict().items() if value}
            facts = list(_facts_of_match(rule, groups, start, start + match.end() - len(subject)))
            if facts:
                return facts
    return []


def _facts_of_match(rule: FactRule, groups: dict[str, str], start: int, end: int) -> Iterator[FactCandidate]:
    topic = canonical(groups["topic"]) if "topic" in groups else None
    polarity = Polarity.DENIED if rule.denied else Polarity.AFFIRMED
    unit = None
    values: list[str]
    if "amount" in groups:
        values, unit = [_amount(groups)], _currency(groups)
    elif rule.attribute == "birthday":
        written = _date(groups)
        values = [written] if written else []
    elif "list" in groups:
        values = [_thing(item) for item in _items(groups["list"]) if not _SITUATIONAL.search(item)]
    else:
        values = [_ZH_PARTICLE.sub("", groups["value"]).strip() if "value" in groups else ""]
        if "called" in groups:
            values = [f"{values[0]} ({groups['called'].strip()})"]
    for value in values:
        if value and len(value) <= _MAX_VALUE:
            yield FactCandidate(
                f"{SUBJECT}/{topic}" if topic else SUBJECT,
                rule.attribute,
                value,
                unit,
                attributes()[rule.attribute].single_valued,
                polarity,
                start,
                end,
            )


def _items(written: str) -> list[str]:
    """The items of a list of short things; "helping people and making friends" is one thing."""
    items = _LIST.split(written)
    short = all(item and len(item) <= _MAX_ITEM and item.count(" ") < _MAX_ITEM_WORDS for item in items)
    return items if short else [written]


def _thing(written: str) -> str:
    return _ARTICLE.sub("", _ZH_VERB.sub("", _ZH_PARTICLE.sub("", written.strip(" .'")))).strip()


def _amount(groups: dict[str, str]) -> str:
    value = float(groups["amount"].replace(",", "")) * _SCALES.get(groups.get("scale", "").lower(), 1)
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _currency(groups: dict[str, str]) -> str | None:
    return _CURRENCIES.get((groups.get("currency") or groups.get("sign") or "").lower())


def _date(groups: dict[str, str]) -> str | None:
    """An ISO date, `--MM-DD` without a year; None where there is no such day."""
    if "iso" in groups:
        year, month, day = groups["iso"].split("-")
    else:
        name = groups.get("month_name") or groups.get("month_name2")
        month = str(_MONTHS.index(name.lower()) + 1) if name else groups["month"]
        day = groups.get("day") or groups["day2"]
        year = groups.get("year", "")
    try:
        # Every day of a year exists in a leap year.
        date(int(year or 2000), int(month), int(day))
    except ValueError:
        return None
    return f"{year or '-'}-{int(month):02}-{int(day):02}"
