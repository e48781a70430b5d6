"""Whether words that a model points at state what it makes of them.

Meaning is the model's; that it is said, is checked here. A model may cut "my budget is 8000" out of "if my budget is
8000", or do what a turn tells it to do. So the sentence around the words is looked at, not the words alone.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from rearview.language.aliases import canonical
from rearview.language.facts import Attribute, attributes
from rearview.language.facts.reading import read_value
from rearview.language.facts.topics import Topics, topics
from rearview.language.facts.values import category_of
from rearview.language.scripts import fold_width_in_place
from rearview.ports.fact_grounds import AttributeTraits, StatedValue, Statement

_SENTENCE_END = re.compile(r"[。！？!?；;\n]+|\.(?=\s|$)")
_CLAUSE_END = re.compile(r"[，、：]|[,:](?![0-9])|\s[-–—]\s|\b(?:but|because|since|so)\b|但是?|不过|因为|所以|而是")
_ENDS_ASKING = re.compile(r"[吗么]\s*$|[?？]\s*$")
_ASKS = re.compile(
    r"什么|怎么|为什么|多少|哪[里儿个天些家种]|是不是|有没有|能不能|会不会|要不要|够不够|是否"
    r"|^\s*(?:(?:and|so|but|ok|okay)[, ]+)?(?:what|when|where|who|whose|why|how|which|is|are|am|was|were|do|does|did"
    r"|can|could|will|would|should)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"如果|假如|假设|假使|要是|万一|倘若|若是|但愿|就好了|恨不得"
    r"|\b(?:if|unless|suppos(?:e|ing)|imagine|assum(?:e|ing)|pretend|hypothetically|what if|i wish|let's say)\b",
    re.IGNORECASE,
)
# "If you book a table: I am allergic to nuts" supposes nothing about the speaker; "if I had 8000, I would" does.
_SUPPOSES_OF_ME = re.compile(
    r"(?:如果|假如|假设|假使|要是|万一|倘若|若是|但愿)[^，。]{0,4}(?:我|咱|预算)"
    r"|\b(?:if|suppos(?:e|ing)|imagine|assum(?:e|ing)|pretend|what if|i wish)(?: that)? (?:i|we|my|our)\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|system|schema)\b"
    r"|\b(?:ignore|disregard|forget)\b.{0,40}\b(?:above|previous|prior|before)\b.{0,40}"
    r"\b(?:output|print|return|emit|respond|reply|answer|write|extract|record)\b"
    r"|\b(?:output|print|return|emit|record|extract|add|insert)\b.{0,24}\b(?:facts?|json|attribute|entit(?:y|ies))\b"
    r"|\byou are now\b|\bnew instructions?\b|\bsystem prompt\b|</?(?:transcript|system|assistant|user)\b"
    r"|(?:忽略|无视|忘记|忘掉|不要管|别管).{0,16}(?:指令|提示词?|系统|设定|要求|规则)"
    r"|(?:忽略|无视|忘记|忘掉).{0,8}(?:以上|上面|之前|前面).{0,24}(?:输出|返回|打印|回答|写入|提取|记录)"
    r"|(?:输出|返回|打印|提取|写入|添加|插入).{0,12}(?:事实|fact|json|属性|字段|实体)"
    r"|系统提示|你现在是|新的?指令",
    re.IGNORECASE,
)
# Words that hold a negation and deny nothing of what they stand before.
_BESIDES_NEGATION = re.compile(
    r"不能?超过|不得超过|不要超过|别超过|不可以?超过|不多于|不错|不过|不仅|不但|不只|不久|不断|不止|不管|不论|不同|不得不|忍不住|离不开|少不了"
    r"|差不多|要不|没问题|没事|不好意思|不用谢|不是[^，。]{1,12}?是"
    r"|\b(?:no|not) (?:more|less|later|earlier) than\b"
    r"|\b(?:can't|cannot|can not|must not|mustn't|shouldn't|should not) exceed\b"
    r"|\bnot only\b|\bno (?:problem|worries)\b|\bnot [a-z ]{1,20} but\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"[不没勿]|并非|绝非|无法|从未|未曾|尚未|(?<![特分区级类性告])别(?![人的墅名针])"
    r"|\b(?:not|no|never|none|without|nor|neither|hardly|cannot)\b|n't\b",
    re.IGNORECASE,
)
_DISLIKE = re.compile(
    r"讨厌|反感|拒绝|戒|受不了|厌恶|恨"
    r"|\b(?:hates?|hated|dislikes?|disliked|detest|loathe|stopped|quit|avoid|refuse)\b",
    re.IGNORECASE,
)
_LIKINGS = frozenset(("likes", "favourite"))
_EDGES = " .,，。!！\"'“”"


class RuleFactGrounds:
    """The `FactGrounds` port over the known attributes and patterns of speech."""

    def __init__(self, table: Mapping[str, Attribute] | None = None, of: Topics | None = None) -> None:
        self._topics = topics() if of is None else of
        self._table = attributes() if table is None else table
        self._traits = {name: AttributeTraits(each.single_valued, each.kind) for name, each in self._table.items()}

    @property
    def attributes(self) -> Mapping[str, AttributeTraits]:
        """The known attributes, by name."""
        return self._traits

    def canonical(self, name: str) -> str:
        """Return the form that two mentions of a name share."""
        return canonical(name)

    def topic(self, name: str) -> str:
        """Return the form that two names of a topic share."""
        return self._topics.key(name)

    def stated_value(self, attribute: str, words: str, *, reference: datetime) -> StatedValue | None:
        """Return the value as the rules would read it from the same words; None where it is none of the attribute."""
        value = read_value(self._table[attribute], fold_width_in_place(words).strip(_EDGES), reference)
        if value is None:
            return None
        return StatedValue(value.value, value.key, value.unit, category_of(value.value))

    def objection(self, text: str, statement: Statement) -> str | None:
        """Return why the words do not state what is made of them, None if they may."""
        folded = fold_width_in_place(text).replace("\u2019", "'")
        sentence = _around(_SENTENCE_END, folded, statement.start, statement.end)
        clause = _around(_CLAUSE_END, folded, statement.start, statement.end, *sentence)
        words = folded[slice(*clause)]
        if _INSTRUCTION.search(folded[: sentence[1]]):
            return "instruction"
        if _ASKS.search(words) or (clause[1] == sentence[1] and _ENDS_ASKING.search(_with_mark(folded, sentence[1]))):
            return "question"
        if _SUPPOSES.search(words) or _SUPPOSES_OF_ME.search(folded[sentence[0] : statement.start]):
            return "hypothetical"
        return _polarity_objection(folded, statement, sentence)


def _polarity_objection(folded: str, statement: Statement, sentence: tuple[int, int]) -> str | None:
    at = statement.value_start
    begin, end = _around(_CLAUSE_END, folded, at, at + 1, *sentence)
    clause = _BESIDES_NEGATION.sub(lambda match: " " * len(match.group()), folded[begin:end])
    if statement.denied:
        return None if _NEGATION.search(clause) or _DISLIKE.search(clause) else "denial_not_in_text"
    before = clause[: at - begin]
    disliked = statement.attribute in _LIKINGS and _DISLIKE.search(before)
    return "negated" if disliked or _NEGATION.search(before) else None


def _around(
    ending: re.Pattern[str], text: str, start: int, end: int, least: int = 0, most: int | None = None
) -> tuple[int, int]:
    """The stretch between two ends that holds [start, end)."""
    limit = len(text) if most is None else most
    begin = max((match.end() for match in ending.finditer(text, least, start)), default=least)
    closing = ending.search(text, max(start, end - 1), limit)
    return min(begin, start), max(end, closing.start() if closing else limit)


def _with_mark(text: str, end: int) -> str:
    """The text up to a sentence's end, with the marks that end it."""
    marks = _SENTENCE_END.match(text, end)
    return text[: marks.end() if marks else end]
