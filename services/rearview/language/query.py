"""What a query asks for: words, names, codes, times, speakers, and the kind of question. No model is run."""

import re
from collections.abc import Collection
from datetime import datetime, tzinfo

from rearview.language.aliases import normalised
from rearview.language.entities import identifiers, query_entities
from rearview.language.scripts import fold_width_in_place, has_han, languages
from rearview.language.signals import is_question
from rearview.language.time_expressions import find_times
from rearview.language.tokens import tokens
from rearview.ports.query_understander import QueryUnderstanding, QuestionType

MAX_CHARACTERS = 8_000
"""Longer queries are understood by their beginning."""


_ASKS_WHEN = re.compile(
    r"什么时候|啥时候|何时|多久|哪一?[天年月周日]|几[号点月]|哪个(?:月|星期|时候)|什么日子|几年前|多长时间"
    r"|星期几|周几"
    r"|(?<![a-z])(?:when|how long|how often|how recently|what (?:time|date|day|month|year)|which (?:day"
    r"|month|year|week|date))(?![a-z])",
    re.IGNORECASE,
)
# "when" that opens a subordinate clause ("What did I say when we met?") asks for no time.
_SUBORDINATE_WHEN = re.compile(
    r"^\s*(?:what|who|where|why|how(?! long| often| recently)|which(?! day| month| year| week| date)|did"
    r"|do|does|was|were|is|are)\b.*\bwhen\b",
    re.IGNORECASE | re.DOTALL,
)

_ASKS_PAST = re.compile(
    r"之前|以前|从前|原来|原先|最初|最早|起初|当初|一开始|曾经|过去|上一个|历史|变过|改过"
    r"|(?<![a-z])(?:before|earlier|formerly|former|originally|original"
    r"|previous|previously|initially|initial|used to|at first|history|(?<!how )old|no longer|changed?)(?![a-z])",
    re.IGNORECASE,
)

_ZH_TYPES: tuple[tuple[QuestionType, re.Pattern[str]], ...] = (
    (QuestionType.WHY, re.compile("为什么|为何|为啥|怎么会|什么原因")),
    (QuestionType.WHEN, _ASKS_WHEN),
    (QuestionType.HOW_MANY, re.compile("多少|几[个次只条人本张岁件位块种家天趟台瓶杯]|多大|多高|多重|多远")),
    (QuestionType.WHERE, re.compile("哪里|哪儿|什么地方|何处|哪个(?:城市|国家|地方|地区)|在哪|去哪|到哪")),
    (QuestionType.WHO, re.compile("谁|哪位|什么人|哪个人")),
    (QuestionType.WHAT, re.compile("什么|啥|哪[个些种款家本部]|哪一")),
    (QuestionType.HOW, re.compile("怎么|怎样|如何|咋")),
    (QuestionType.YES_NO, re.compile("[吗么]\\s*[?？]?\\s*$|是不是|有没有|会不会|能不能|要不要|喜不喜欢|是否")),
)
_EN_TYPES: tuple[tuple[QuestionType, re.Pattern[str]], ...] = (
    (
        QuestionType.HOW_MANY,
        re.compile(r"\bhow (?:many|much|old|tall|far|big|heavy|large)\b|\bwhat (?:number|amount) of\b", re.IGNORECASE),
    ),
    (
        QuestionType.WHEN,
        re.compile(
            r"^(?:\W*\w+ )?\W*(?:when|what (?:time|date|day|month|year)|which (?:day|month|year|week|date)"
            r"|how long|how often|how recently)\b",
            re.IGNORECASE,
        ),
    ),
    (QuestionType.WHO, re.compile(r"^\W*(?:(?:and|so|but|to|with|for|from) )?(?:who|whom|whose)\b", re.IGNORECASE)),
    (
        QuestionType.WHERE,
        re.compile(
            r"^\W*(?:(?:and|so|but|from) )?(?:where|(?:in |to |from )?(?:which|what) (?:city|country|place"
            r"|town|state))\b",
            re.IGNORECASE,
        ),
    ),
    (
        QuestionType.WHY,
        re.compile(
            r"^\W*(?:(?:and|so|but) )?(?:why|how come|what (?:made|caused|motivated|inspired)|for what reason)\b",
            re.IGNORECASE,
        ),
    ),
    (QuestionType.HOW, re.compile(r"^\W*(?:(?:and|so|but) )?how\b", re.IGNORECASE)),
    (QuestionType.WHAT, re.compile(r"^\W*(?:\w+ )?(?:what|which)\b", re.IGNORECASE)),
    (
        QuestionType.YES_NO,
        re.compile(
            r"^\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might"
            r"|isn't|aren't|don't|didn't|doesn't|wasn't|haven't|hasn't)\b",
            re.IGNORECASE,
        ),
    ),
    (QuestionType.WHEN, re.compile(r"\bwhen\b[^.!]*\?\s*$", re.IGNORECASE)),
    (QuestionType.WHO, re.compile(r"\bwho(?:m|se)?\b[^.!]*\?\s*$", re.IGNORECASE)),
    (QuestionType.WHERE, re.compile(r"\bwhere\b[^.!]*\?\s*$", re.IGNORECASE)),
    (QuestionType.WHAT, re.compile(r"\b(?:what|which)\b[^.!]*\?\s*$", re.IGNORECASE)),
)


def understand_query(
    text: str, *, reference: datetime, zone: tzinfo, known_speakers: Collection[str] = ()
) -> QueryUnderstanding:
    """Understand a query asked at `reference` in `zone`, among the speakers of a namespace. Never raises on text."""
    head = text[:MAX_CHARACTERS]
    folded = fold_width_in_place(head).replace("\u2019", "'")
    kind = _question_type(folded)
    return QueryUnderstanding(
        languages=languages(head),
        tokens=tuple(tokens(head)),
        entities=query_entities(head),
        identifiers=identifiers(head),
        time_ranges=tuple(found.range for found in find_times(head, reference, zone)),
        asks_when=kind is QuestionType.WHEN or _asks_when(folded),
        named_speakers=named_speakers(head, known_speakers),
        question_type=kind,
    )


class RuleQueryUnderstander:
    """The `QueryUnderstander` port over these rules. Stateless and thread-safe."""

    def understand_query(
        self, text: str, *, reference: datetime, zone: tzinfo, known_speakers: Collection[str] = ()
    ) -> QueryUnderstanding:
        """Understand a query asked at `reference` in `zone`, among the speakers of a namespace."""
        return understand_query(text, reference=reference, zone=zone, known_speakers=known_speakers)


def asks_past(text: str) -> bool:
    """Whether a query is about what was so before ("my old address", "原来的预算")."""
    return _ASKS_PAST.search(fold_width_in_place(text[:MAX_CHARACTERS])) is not None


def _asks_when(text: str) -> bool:
    return _ASKS_WHEN.search(text) is not None and not _SUBORDINATE_WHEN.search(text)


def _question_type(text: str) -> QuestionType:
    stripped = text.strip()
    tables = (_ZH_TYPES, _EN_TYPES) if has_han(stripped) else (_EN_TYPES,)
    for table in tables:
        for kind, pattern in table:
            if pattern.search(stripped):
                return kind
    return QuestionType.YES_NO if is_question(stripped) else QuestionType.STATEMENT


def named_speakers(text: str, known_speakers: Collection[str]) -> tuple[str, ...]:
    """The speakers a query names, in order of place; a Latin name counts as a whole word only."""
    lowered = normalised(fold_width_in_place(text[:MAX_CHARACTERS]).replace("\u2019", "'"))
    found: list[tuple[int, str]] = []
    for speaker in known_speakers:
        name = normalised(speaker)
        if not name:
            continue
        if has_han(name):
            at = lowered.find(name)
        else:
            match = re.search(rf"(?<![a-z0-9_]){re.escape(name)}(?![a-z0-9_])", lowered)
            at = match.start() if match else -1
        if at >= 0:
            found.append((at, speaker))
    return tuple(speaker for _, speaker in sorted(found))
