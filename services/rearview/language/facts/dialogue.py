"""What a turn means because of the turns before it: corrections, confirmations, bare answers."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from rearview.domain.fact import EarlierTurn, FactCandidate, FactKind, Stance
from rearview.domain.text import EntityType
from rearview.language.aliases import kind_of
from rearview.language.facts.candidates import ClauseReader
from rearview.language.facts.choices import picked
from rearview.language.facts.clauses import sentences
from rearview.language.facts.dates import ahead
from rearview.language.facts.reading import Value, text_value
from rearview.language.facts.roles import SPEAKING_ROLES
from rearview.language.facts.speech_acts import asks
from rearview.language.facts.values import category_of

MAX_EARLIER_TURNS = 6
MAX_EARLIER_CHARACTERS = 2_000

_HESITATION = r"(?:哦|噢|啊|呃|额|哎呀?|actually|等等|等一下|抱歉|不好意思|对不起|sorry|oops|wait|oh|hmm|ah)"
_STRONG = (
    r"(?:不对|错了|(?:我)?(?:刚才|刚刚)?(?:说|记|写|搞|弄|打)错了|更正(?:一下)?|纠正(?:一下)?"
    r"|口误|我的意思是|我是说|correction|scratch that|strike that"
    r"|my mistake|i misspoke|i was wrong|i meant(?: to say)?|let me correct (?:that|myself)|make (?:that|it)"
    r"|that's wrong|not quite)"
)
_WEAK = r"(?:不是?(?=[,，\s])|应该是|其实是|no\b|nope\b|actually\b)"
_OPENER = re.compile(
    rf"\s*(?:{_HESITATION}[\s,，.。!！:：]*)*(?:(?P<strong>{_STRONG}(?:[\s,，.。!！:：—-]*{_STRONG})*)"
    rf"|(?P<weak>{_WEAK}(?:[\s,，.]+{_HESITATION})*)|(?P<sorry>(?<=orry)|(?<=歉)|(?<=思)))"
    r"[\s,，.。!！:：—-]*(?P<make>make (?:it|that)\b)?\s*",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\s*(?:(?:no|不)[,，] ?)?(?:(?:我们?的?)?[\u4e00-\u9fff]{0,6}?不是|it's not|it is not|it isn't"
    r"|(?:my|our|the) [a-z ]{2,24}? (?:isn't|is not)|not)"
    r"\s*(?P<old>[^,，。;；]{1,30}?)\s*[,，;；.]?\s*(?:而?是|but|it's"
    r"|it is)\s*(?P<new>[^,，。;；]{1,30}?)[。.!！]*\s*$",
    re.IGNORECASE,
)
TAKEN_BACK = re.compile(
    r"(?<![,，.。!！—-])[,，.。!！—-]++\s*+(?=(?:啊|哦|呃|额|等等|哎)*[,，]?\s*(?:不对|(?:我)?说错了|口误)[,，。.\s]"
    r"|(?:oh |oops |sorry )?(?:no,? wait|wait,? no|scratch that|correction|i mean)[,，.:\s])",
    re.IGNORECASE,
)
"""Where a turn takes back what it has just said: "五千，啊不对，六千"."""

_IT_IS = re.compile(
    r"^(?:(?:应该|其实|而)?是|应该|it(?:'s| is) on |改成|换成|it(?:'s| is)|it should be|that(?:'s| is)|make (?:it"
    r"|that)|i meant|rather|should be)\s*",
    re.IGNORECASE,
)
_BARE_END = re.compile(
    r"(?:[,，;；]|\.(?:\s|$)|[。!！]| not |不是|而不是| instead| rather| please|才对|吧$|哦$|了$)", re.IGNORECASE
)
_CONFIRMS = re.compile(
    r"\s*(?:(?:好的?呀?|行|可以|没问题|同意|确认|对的?|嗯+|是的|就这么(?:定|办|着)了?|就这样(?:吧|定了)?|就?按(?:这个"
    r"|你说的?|您说的?)(?:来|办|做)?|定了|成交|听你的|按你说的办?|ok"
    r"|yes|yep|yeah|sure|okay|sounds (?:good|great|perfect)|let's do (?:that|it)|go ahead|confirmed?|agreed|perfect"
    r"|deal|that works(?: for me)?"
    r"|works for me|great|fine|please do|do it|exactly|correct|absolutely|of course)[\s,，.。!！~、]*){1,4}$",
    re.IGNORECASE,
)
_PROPOSES = re.compile(
    r"^(?:好的?[,，]?|那么?|要不|不如|我建议|建议|就|咱们|我们|ok[,，]?|okay[,，]? |so |then |shall we |should we "
    r"|shall i |should i |how about |what about "
    r"|why don't we |let's |i(?:'d)? suggest (?:we |that we )?|i(?:'d)? recommend |i propose "
    r"|do you want (?:me )?to |would you like (?:me )?to |can we )+",
    re.IGNORECASE,
)
_ASKING_TAIL = re.compile(
    r"[,，]?\s*(?:可以吗|好吗|行吗|怎么样|如何|好不好|行不行|对吗|是吗|吗|is that ok(?:ay)?"
    r"|does that work(?: for you)?|sound good|right|ok(?:ay)?|then|yes)?[\s?？。.!！]*$",
    re.IGNORECASE,
)
_GOING = re.compile(
    r"^(?:going|go) with |^(?:choosing|choose|picking|pick|booking|book) |^(?:选择?|用|订|定)(?=.)", re.IGNORECASE
)
_YOURS = ((re.compile(r"\byour\b", re.IGNORECASE), "my"), (re.compile("[你您](?:的)?(?=[\u4e00-\u9fff])"), "我的"))
_ASKED_YOU = re.compile(r"\byou(?:r)?\b|[你您]", re.IGNORECASE)
_QUESTIONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"where do you live|where are you (?:based|living)|[你您](?:现在)?住在?哪", re.IGNORECASE),
        "residence",
    ),
    (
        re.compile(
            r"what(?:'s| is) your (?:full )?name|what should i call you|[你您]叫什么|怎么称呼[你您]|[你您]贵姓",
            re.IGNORECASE,
        ),
        "name",
    ),
    (
        re.compile(
            r"what do you do(?: for (?:a living|work))?\??$|what's your (?:job|profession|occupation)"
            r"|[你您](?:是)?(?:做什么(?:工作|的)|从事什么)",
            re.IGNORECASE,
        ),
        "job",
    ),
    (
        re.compile(r"(?:are you|any(?:thing)?).*allerg|[你您]?(?:对什么|有(?:没有)?(?:什么)?).*过敏", re.IGNORECASE),
        "allergy",
    ),
    (
        re.compile(
            r"where are you (?:originally )?from|[你您](?:是)?(?:哪里|哪儿)人|[你您]?老家(?:是|在)哪", re.IGNORECASE
        ),
        "hometown",
    ),
    (re.compile(r"how old are you|[你您](?:今年)?(?:多大|几岁)", re.IGNORECASE), "age"),
    (re.compile(r"how tall are you|[你您](?:的)?身高", re.IGNORECASE), "height"),
    (re.compile(r"how much do you weigh|[你您](?:的)?体重", re.IGNORECASE), "weight"),
)
_MAX_ANSWER_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Opening:
    """How a turn begins as a correction, and where what it says instead begins; `firm` for unmistakable words."""

    start: int
    firm: bool


class Dialogue:
    """The turns before one turn, read as far as they are needed."""

    def __init__(
        self,
        previous: Sequence[EarlierTurn],
        reader: ClauseReader,
        reference: datetime | None,
        extract: Callable[[str], Sequence[FactCandidate]],
    ) -> None:
        self._previous = tuple(previous)[-MAX_EARLIER_TURNS:]
        self._reader = reader
        self._reference = reference
        self._extract = extract

    @cached_property
    def facts(self) -> tuple[FactCandidate, ...]:
        """What the speaker stated of themself before, the latest first."""
        found: list[FactCandidate] = []
        for turn in reversed(self._previous):
            if turn.role in SPEAKING_ROLES:
                stated = self._extract(turn.text[:MAX_EARLIER_CHARACTERS])
                found += [fact for fact in reversed(stated) if fact.about_user and fact.value]
        return tuple(found)

    def corrected(self, fact: FactCandidate, firm: bool) -> FactCandidate:
        """Return a fact as a correction of what was said before; a mere "no," corrects only what it contradicts."""
        earlier = next(
            (
                one
                for one in self.facts
                if (one.subject, one.attribute) == (fact.subject, fact.attribute) and one.single_valued
            ),
            None,
        )
        contradicts = earlier is not None and earlier.value_key != fact.value_key
        if fact.stance is Stance.RETRACTION or not (firm or contradicts):
            return fact
        return replace(
            fact, stance=Stance.CORRECTION, replaces=earlier.value_key if earlier and contradicts else fact.replaces
        )

    def instead(self, written: str, replaced: str = "") -> FactCandidate | None:
        """Return the correction that a bare value makes of the latest statement it fits; None where it fits none."""
        said = _IT_IS.sub("", _IT_IS.sub("", written.strip()))
        end = _BARE_END.search(said)
        said = said[: end.start()] if end else said
        if not said:
            return None
        for earlier in self.facts:
            if replaced and not self._is(earlier, replaced):
                continue
            corrected = self._replaced(earlier, said)
            if corrected is not None:
                return replace(corrected, stance=Stance.CORRECTION)
        return None

    def switched(self, value: str, replaced: str) -> FactCandidate | None:
        """Return the change that "换成……" means by the latest preference or thing owned; None without any."""
        for earlier in self.facts:
            text = text_value(value)
            if text and earlier.kind in (FactKind.PREFERENCE, FactKind.POSSESSION):
                key = (
                    self._reader.make(earlier.attribute, text, replaced=replaced).replaces
                    if replaced
                    else earlier.value_key
                )
                return replace(
                    self._reader.make(earlier.attribute, text, stance=Stance.CHANGE),
                    subject=earlier.subject,
                    replaces=key,
                )
        return None

    def in_place_of_known(self, fact: FactCandidate) -> FactCandidate:
        """Return a change with the value it replaces: the latest one of its category that was stated."""
        if fact.stance is not Stance.CHANGE or fact.replaces or fact.category is None:
            return fact
        for earlier in self.facts:
            if (
                earlier.category == fact.category
                and earlier.value_key != fact.value_key
                and earlier.stance is not Stance.ONE_OFF
            ):
                return replace(fact, replaces=earlier.value_key)
        return fact

    def chosen(self, text: str) -> Iterator[FactCandidate]:
        """What this turn picks of the options that the assistant offered last."""
        last = self._last_words()
        option = picked(text, last) if last else None
        if option is not None and (value := text_value(option)) is not None:
            yield self._reader.make("decision", value)

    def confirmed(self, text: str) -> Iterator[FactCandidate]:
        """What the assistant proposed last and this turn agrees to."""
        last = self._last_words()
        if last is None or _CONFIRMS.match(text) is None:
            return
        for sentence in reversed(list(sentences(last))):
            proposal = _ASKING_TAIL.sub("", sentence.text.strip())
            proposes = _PROPOSES.match(proposal) is not None or asks(sentence.text)
            proposal = _PROPOSES.sub("", proposal)
            for pattern, mine in _YOURS:
                proposal = pattern.sub(mine, proposal)
            if not proposes or not proposal:
                continue
            found = self._reader.read(proposal, self._reference)
            if not found and (going := _GOING.match(proposal)) and (value := text_value(proposal[going.end() :])):
                found = [self._reader.make("decision", value)]
            found = [fact for fact in found if fact.about_user]
            if found:
                yield from found
                return

    def answered(self, text: str) -> Iterator[FactCandidate]:
        """What a bare value says as an answer to the assistant's question."""
        last = self._last_words()
        said = text.strip(" 。.!！~")
        if last is None or not said or len(said) > _MAX_ANSWER_CHARACTERS or _CONFIRMS.match(text):
            return
        question = list(sentences(last))[-1:]
        if not question or not asks(question[0].text) or not _ASKED_YOU.search(question[0].text):
            return
        asked = [name for pattern, name in _QUESTIONS if pattern.search(question[0].text)]
        asked += [attribute.name for attribute in self._reader.named.mentioned(question[0].text)]
        if len(set(asked)) != 1:
            return
        value = self._reader.value_of(asked[0], said, self._reference)
        if value is not None and (value.key[:1].isdigit() or _names_something(said)):
            yield self._reader.make(asked[0], value)

    def _last_words(self) -> str | None:
        if not self._previous or self._previous[-1].role != "assistant":
            return None
        return self._previous[-1].text[-MAX_EARLIER_CHARACTERS:]

    def _is(self, earlier: FactCandidate, written: str) -> bool:
        value = self._value(earlier, written)
        return value is not None and value.key == earlier.value_key

    def _replaced(self, earlier: FactCandidate, said: str) -> FactCandidate | None:
        if earlier.kind is FactKind.PLAN and earlier.attribute == "plan":
            time = ahead(said, self._reference) if self._reference else None
            if time is None or (time.end - time.start) * 2 < len(said):
                return None
            return replace(earlier, valid_from=time.range.start, valid_to=time.range.end)
        value = self._value(earlier, said)
        if value is None or value.key == earlier.value_key:
            return None
        return replace(
            earlier,
            value=value.value,
            value_key=value.key,
            unit=value.unit or earlier.unit,
            replaces=earlier.value_key,
            category=category_of(value.value) if earlier.category else None,
        )

    def _value(self, earlier: FactCandidate, written: str) -> Value | None:
        value = self._reader.value_of(earlier.attribute, written, self._reference)
        textual = not earlier.value_key[:1].isdigit() and not earlier.value_key.startswith("--")
        return None if value is not None and textual and value.key[:1].isdigit() else value


def opening(text: str) -> Opening | None:
    """Return how a turn opens as a correction of what was said before; None where it does not."""
    match = _OPENER.match(text)
    if match is None:
        return None
    return Opening(match.start("make") if match["make"] else match.end(), match["strong"] is not None)


def contrast(text: str) -> tuple[str, str, int] | None:
    """Return what "不是8000，是6000" denies and says, and where the latter begins; None for other turns."""
    match = _CONTRAST.match(text)
    return (match["old"], match["new"], match.start("new")) if match else None


def _names_something(said: str) -> bool:
    if _NEITHER.match(said):
        return False
    known = (
        kind_of(said) in (EntityType.PLACE, EntityType.ORGANISATION, EntityType.PRODUCT)
        or category_of(said) is not None
    )
    return (
        known
        or all(word[:1].isupper() for word in said.split())
        or bool(
            re.fullmatch("(?![我你他她还在就刚可应暂目正先只])[\u4e00-\u9fff]{2,4}", said)
            and not _NO_ANSWER.search(said)
        )
    )


_NO_ANSWER = re.compile("没|不|无|随便|谢|好|行|嗯|算|再|看|等|都")
_NEITHER = re.compile(r"(?:no|nope|nah|none|nothing|never|not|yes|yeah|yep|maybe|idk|sure)\b", re.IGNORECASE)
