"""Statements that call an attribute by its name, in either language or both: "my budget is 8000", "预算改成一万二".

Built from a table of attributes, so that a user's own attributes are read as the shipped ones are.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rearview.domain.fact import Stance
from rearview.language.aliases import normalised
from rearview.language.facts.attributes import Attribute, ValueType, by_alias
from rearview.language.facts.cues import words_of
from rearview.language.facts.statement import FOR_TOPIC
from rearview.language.facts.topics import Topics
from rearview.language.scripts import has_han

_ZH_OF = "(?:给|用于|用来)?(?:买|购买|换|租|装)?(?:一?[台部辆个套架张双])?"
_OWNER = (
    r"(?P<owner>my|our|the|我们俩?的?|咱们?俩?的?|我俩的?|我家的?|我的?|全家的?|这个|这次)?\s*(?:(?:new|current|total"
    r"|max|maximum|overall|old|整个"
    r"|现在的?|目前的?|新的|这次|总)\s*)?(?:这次|每个月的?|一个月的?)?"
)
_CHANGED_ZH = (
    "(?:现在|已经|要|需要|都|下个?月|下周|明年|今年|这个月|刚刚?|又|最近|终于|可能得|直接|一下子)*(?:改成|改为|改到"
    "|换成|换到|变成|变为|变更为|调到|调整为|调整到|调成|提高到|提到|提升到|提升至|增至|砍到|缩减到|压缩到|涨到|升到"
    "|降到|降低到"
    "|降为|减到|减少到|增加到|加到|推迟到|延期到|延到|提前到|更新为|更新成)了?"
)
_CHANGED_EN = (
    r"(?:(?:has been|have been|was|is|got) (?:raised|increased|cut|reduced|changed|moved|pushed(?: back)?|extended"
    r"|lowered"
    r"|postponed|updated|bumped(?: up)?) to|(?:has |have |just )*(?:jumped|shot up|climbed|changed|increased|gone up"
    r"|went up|dropped"
    r"|gone down|went down"
    r"|moved) to|is now|are now|现在是|(?:is going|goes|will go) (?:up|down) to)"
)
_STATE = (
    r"(?:大概|大约|差不多|现在|目前|已经|一共|总共|就|只|到手|税[前后])+(?=[0-9一二两三四五六七八九十])"
    r"|(?:每个?月|一个月)?(?:就)?(?:要|得)?(?:去掉|花掉?|花去|交)了?(?=[0-9一二两三四五六七八九十])"
    r"|(?:大概|大约|差不多|现在|目前|已经|一共|总共|就|只|一直|基本)*(?:是|为|有|定在|定为|就定|定|[:：=])|(?:一直"
    r"|基本|基本上)?在"
    r"|(?:is|are)(?: set at| currently| still)?"
    r"|'s|of|大概|大约|差不多"
)
_AT_MOST = (
    r"(?:绝对)?(?:不能|不要|别|不可以|不得)超过|不超过|最多(?:是|为|只有)?|上限(?:是|为)?|控制在"
    r"|(?:is |are )?(?:capped at|at most|no more than|under"
    r"|up to|limited to)|(?:must|should|can) not exceed|can't exceed|cannot exceed"
)
_NOT = r"(?:并|可)?不是|(?:is|are) not|isn't|aren't"
_BUDGET = frozenset(("budget", "预算", "预算金额"))
_VALUE = r"\s*(?P<value>\S.*)$"
_FROM_ZH = (
    "(?:现在|已经|要)*从(?P<replaced>(?![^，。]{1,8}(?:起|开始))[^，。改调涨降提增减换变]{1,16}?)"
    "(?:改|调|涨|降|提高|提|增加|加|减少|减|换|变|推迟|延)(?:成|到|为|至)了?"
)
_FROM_EN = (
    r"(?:(?:has |was |is |has been )?(?:changed|raised|increased|cut|reduced|moved|gone up|went up|dropped"
    r"|went) )?from (?P<replaced_en>\S.{0,20}?) to"
)
_SET_EN = (
    r"(?:please |let's |can you |i'd like to |i want to )?(?:(?P<us>i|we)(?:'ve| have)?(?: just)? )?"
    r"(?:changed?|set|updated?|raised?|cut|increased?|lowered?|reduced?|moved?|push(?:ed)?|extend(?:ed)?|make|made"
    r"|bump(?:ed)?)"
)
_SETS = re.compile(r"(?:[a-z' ]{0,20} )?set\s|.*(?:设为|设成|定为|定在)", re.IGNORECASE)
_RETRACTED = (
    r"(?:(?:之前|以前|刚才|上次)?(?:说|提)?的?)?(?:不算数?|作废|取消|不作数|不用管|不要管|无效|不再有效|忘掉|别管"
    r"|撤回|当我没说)(?:了|吧|掉|啦)*"
    r"|(?:is|are) (?:no longer (?:valid|relevant|correct)|off|void|gone)|no longer (?:applies|holds|counts)"
    r"|(?:doesn't|does not) (?:count|matter|apply|hold)(?: anymore)?"
)
_RETRACT = (
    r"(?:请|帮我|麻烦|你|就)*(?:把)?(?:当我没(?:说|提)过?|忘掉|忘了|忘记|别管|不用管|不要管|取消|撤回|删掉|删除"
    r"|去掉)(?:掉)?(?:我)?(?:之前|刚才|以前|上次)?(?:说|提)?的?(?:关于)?"
    r"|(?:please |you can |let's |just )*(?:forget(?: about)?|never ?mind(?: about)?|disregard|ignore|scratch|drop"
    r"|cancel|delete|remove)(?: what i said about)?\s"
)
_SAID = (
    r"从|(?:(?:has |was |is |has been )?(?:changed|raised|increased|cut|reduced|moved|gone|went|dropped) )?from\b"
    rf"|{_CHANGED_ZH}|{_CHANGED_EN}|{_AT_MOST}|{_NOT}|{_STATE}|{_RETRACTED}"
    r"|(?:up |down |back )?(?:to|at|from)\b|[0-9$€£¥￥]|i (?:mentioned|gave|told)\b|please$|$"
)
_FOR_TAIL = re.compile(rf"(?P<value>.*\S)\s+{FOR_TOPIC}\s*$", re.IGNORECASE)
_SAYS_NOTHING_MORE = frozenset(("monthly", "annual", "weekly", "house", "apartment"))
_SAID_BEFORE = "(?:我)?(?:之前|刚才|刚刚|上次|以前|先前|此前)?(?:说|提|讲)过?的(?:那个)?"


@dataclass(frozen=True, slots=True)
class NamedStatement:
    """What is said of an attribute: `value` in its words, empty for a retraction of it as a whole."""

    attribute: Attribute
    topic: str
    value: str
    stance: Stance
    replaced: str = ""
    denied: bool = False


class NamedAttributes:
    """The patterns for one table of attributes."""

    def __init__(self, table: Mapping[str, Attribute], topics: Topics) -> None:
        self._topics = topics
        self._of_alias = {alias: attribute for alias, attribute in by_alias(table) if attribute.stated}
        aliases = list(self._of_alias)
        zh = "|".join(re.escape(alias) for alias in aliases if has_han(alias)) or "(?!)"
        en = "|".join(re.escape(alias) for alias in aliases if not has_han(alias)) or "(?!)"
        self._zh = re.compile(zh)
        self._en_words = frozenset(word for alias in aliases if not has_han(alias) for word in alias.split()[:1])
        alias = rf"(?P<alias>{zh}|(?<![a-z])(?:{en})(?![a-z]))"
        before = rf"(?:{_ZH_OF}(?:新的?)?(?P<before>{topics.chinese}|{topics.english})(?:上|方面)?的?\s*)??"
        # "Budget for the sofa": what it is for ends where something is said of it.
        head = rf"{_OWNER}\s*{before}{alias}\s*(?:(?<=\s){FOR_TOPIC}(?![a-z'-])(?=\s*(?:{_SAID})))?\s*"
        self._mentions = re.compile(alias, re.IGNORECASE)
        self._stated = re.compile(
            rf"{head}(?:(?P<from>{_FROM_ZH}|{_FROM_EN})|(?P<changed>{_CHANGED_ZH}|{_CHANGED_EN})|(?P<most>{_AT_MOST})"
            rf"|(?P<not>{_NOT})|(?P<is>{_STATE}))?(?:{_AT_MOST})?{_VALUE}",
            re.IGNORECASE,
        )
        self._set = re.compile(
            rf"{_SET_EN}\s+{head}(?:up |down |back )?(?:from (?P<replaced>\S.{{0,20}}?) )?(?:to|at){_VALUE}",
            re.IGNORECASE,
        )
        self._set_zh = re.compile(
            rf"(?:请|帮我|我|麻烦)?(?:想)?把{head}(?:{_FROM_ZH}|{_CHANGED_ZH}|设为|设成|定为|定在){_VALUE}",
            re.IGNORECASE,
        )
        self._label = re.compile(rf"{_OWNER}\s*{before}{alias}\s*(?:(?<=\s){FOR_TOPIC})?\s*", re.IGNORECASE)
        self._retracted = re.compile(rf"(?:{_SAID_BEFORE})?{head}(?:{_RETRACTED})\s*$", re.IGNORECASE)
        self._retract = re.compile(
            rf"(?:{_RETRACT}){head}(?:的事情?)?(?:i (?:mentioned|gave|told you).*|吧|了|please)?\s*$", re.IGNORECASE
        )

    def is_label(self, text: str) -> bool:
        """Whether a text is an attribute's name, or what it is of as well, and nothing else."""
        return self._label.fullmatch(text.strip()) is not None

    def mentioned(self, text: str) -> list[Attribute]:
        """The attributes a text names, each once, in order of place."""
        found = (self._of_alias[normalised(match["alias"])] for match in self._mentions.finditer(text))
        return list({attribute.name: attribute for attribute in found}.values())

    def _may_mention(self, clause: str) -> bool:
        if not self._en_words.isdisjoint(words_of(clause)):
            return True
        return not clause.isascii() and self._zh.search(clause) is not None

    def read(self, clause: str) -> NamedStatement | None:
        """Return what a clause states of an attribute it names; None where it names none or states nothing."""
        if not self._may_mention(clause):
            return None
        for pattern in (self._retract, self._retracted):
            if match := pattern.match(clause):
                return NamedStatement(self._attribute(match), self._topic(match), "", Stance.RETRACTION)
        for pattern in (self._set, self._set_zh):
            if match := pattern.match(clause):
                stance = Stance.STANDING if _SETS.match(clause) else Stance.CHANGE
                value, topic = self._value_and_topic(match, match["value"])
                return NamedStatement(self._attribute(match), topic, value, stance, match["replaced"] or "")
        match = self._stated.match(clause)
        return self._statement(match) if match else None

    def _statement(self, match: re.Match[str]) -> NamedStatement | None:
        attribute = self._attribute(match)
        said_how = any(match[name] for name in ("from", "changed", "most", "not", "is"))
        if not said_how and attribute.value not in (ValueType.MONEY, ValueType.NUMBER, ValueType.BIRTHDAY):
            return None
        if attribute.value is ValueType.TEXT and match["owner"] is None and not match["changed"]:
            # "地址是……" may be anybody's.
            return None
        if attribute.value is ValueType.TEXT and (match["owner"] or "").lower() == "the":
            return None
        changed = match["from"] or match["changed"]
        stance = Stance.NEGATION if match["not"] else Stance.CHANGE if changed else Stance.STANDING
        value, replaced = match["value"], match["replaced"] or match["replaced_en"] or ""
        if match["is"] and value.lower().endswith(" now"):
            value, stance = value[:-4], Stance.CHANGE
        value, topic = self._value_and_topic(match, value)
        return NamedStatement(attribute, topic, value, stance, replaced, denied=bool(match["not"]))

    def _attribute(self, match: re.Match[str]) -> Attribute:
        return self._of_alias[normalised(match["alias"])]

    def _value_and_topic(self, match: re.Match[str], value: str) -> tuple[str, str]:
        """What is said of the attribute, and of what it is: "800 dollars for the sofa" says both."""
        topic = self._topic(match)
        attribute = self._attribute(match)
        amount = attribute.value in (ValueType.MONEY, ValueType.NUMBER)
        if not topic and amount and (tail := _FOR_TAIL.match(value)):
            return tail["value"], self._key(match, tail["topic"])
        return value, topic

    def _topic(self, match: re.Match[str]) -> str:
        written = match["before"] or match["topic"]
        return self._key(match, written) if written else ""

    def _key(self, match: re.Match[str], written: str) -> str:
        topic = self._topics.key(written)
        # "Monthly rent" is the rent; a monthly budget is another one than that of a journey.
        return "" if topic in _SAYS_NOTHING_MORE and normalised(match["alias"]) not in _BUDGET else topic
