"""Facts that a turn states clearly. Precision comes first: when in doubt, nothing.

Questions, hypotheticals, the past, reported speech, quotations, jests and examples give no facts, and what documents,
assistants and tools say gives none about the user.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rearview.domain.fact import PERSON, EarlierTurn, FactCandidate, FactKind, Polarity, Stance, Strength
from rearview.domain.memory import Trust
from rearview.language.facts import speech_acts
from rearview.language.facts.asides import without_asides
from rearview.language.facts.attributes import Attribute, attributes
from rearview.language.facts.candidates import ClauseReader
from rearview.language.facts.clauses import Clause, clauses, sentences, whole_list
from rearview.language.facts.decisions import announces
from rearview.language.facts.dialogue import TAKEN_BACK, Dialogue, contrast, opening
from rearview.language.facts.informal import spelled_out
from rearview.language.facts.periods import bounded, since
from rearview.language.facts.reading import text_value
from rearview.language.facts.relations import newly, subject_of, told_on, went_on
from rearview.language.facts.roles import SPEAKING_ROLES, TOOL_ROLES
from rearview.language.facts.tool_states import tool_states
from rearview.language.facts.topics import Topics, topics
from rearview.language.facts.values import value_key
from rearview.language.scripts import fold_width_in_place, has_han

MAX_CHARACTERS = 4_000
"""Longer turns are read up to here."""

MAX_FACTS = 64
_USER, _NOBODY = "user", ""
_ME = re.compile("我(?!们公司|们的|妈|爸)|(?:I|i)(?:'m|'ve|'d)?(?![a-z])|my ", re.IGNORECASE)
_ABOUT_ME = re.compile("我(?:姓|是(?!说)|今年|在|来自|现在|目前|毕业|改名)|i(?:'m| am)\\s", re.IGNORECASE)
_WITHOUT_SUBJECT = re.compile(
    "(?:现在|目前)?(?:住在|来自|毕业于|在[^，。]{2,16}(?:工作|上班)|是一?[名个位]|喜欢|不太?喜欢|不怎么喜欢|讨厌|爱[吃喝看]|不[吃喝]|今年[0-9]"
    "|(?:现在|目前|一直)*在[^，。]{2,16}(?:当|做|担任|读|上学|念书)|(?:现在|已经|早就)*不(?:再)?养|(?:在|每天|一直在|长期)(?:吃|服用)"
    "|[^，。]{0,4}(?:毕业|结婚|退休)(?:以后|之后|后)(?:就|一直)*(?:留在|落户|在)|(?:就|一直)*留在"
    "|(?:专业|major|手机|电脑|平板|相机|车)\\s?是|(?:更|挺|蛮|还挺|比较|最)(?:喜欢|爱[吃喝看听玩])|[^，。]{1,10}(?:什么的|之类的)[^，。]*不"
    "|[0-9]{1,3}岁|对[^，。]{1,12}过敏|养了?[一两]|现居|(?:现在)?叫[^，。]{2,4}$|做[^，。]{2,8}的?$|会说)"
)
_WITHOUT_SUBJECT_EN = re.compile(
    r"(?:and )?(?:now )?(?:live in|live|work (?:as|at|for)|study at|am an?|speak|love|hate|prefer"
    r"|(?:can't|cannot) (?:stand|bear))\s",
    re.IGNORECASE,
)
# Said without "I", as in a chat.
_ELIDED = re.compile(r"(?:can't|cannot) (?:stand|bear)\s", re.IGNORECASE)
_ALONE_ME = re.compile("我(?:嘛|呢|啊|呀|个人|这个人|自己)+$")
_SOMEBODY = re.compile(r"[我你您他她它咱谁]|\b(?:i|you|he|she|it|they|we|my|your|his|her|this|that)\b", re.IGNORECASE)
_OWN_AGAIN = re.compile(r"\b(?:so|but),?\s*$", re.IGNORECASE)
_NOW = re.compile("现在|如今|\\bnow\\b", re.IGNORECASE)


class RuleFactExtractor:
    """The `FactExtractor` port over rules, for one table of attributes and what they may be of; stateless."""

    def __init__(self, table: Mapping[str, Attribute] | None = None, of: Topics | None = None) -> None:
        self._reader = ClauseReader(attributes() if table is None else table, topics() if of is None else of)

    def extract_facts(
        self,
        text: str,
        role: str,
        *,
        reference: datetime | None = None,
        previous: Sequence[EarlierTurn] = (),
        tool: str = "",
    ) -> tuple[FactCandidate, ...]:
        """Return what a turn states, in order of place; see the port. Never raises on text."""
        if role in TOOL_ROLES:
            return tuple(_states(text, tool))
        if role not in SPEAKING_ROLES:
            return ()
        folded = _plain(text)
        if speech_acts.is_not_meant(folded):
            return ()
        dialogue = Dialogue(previous, self._reader, reference, lambda said: self._alone(_plain(said), reference))
        if taken_back := TAKEN_BACK.search(folded):
            head, tail = folded[: taken_back.start()], folded[taken_back.end() :]
            said = self.extract_facts(head, role, reference=reference, previous=previous)
            instead = Dialogue((EarlierTurn(role, head),), self._reader, reference, lambda _: said)
            put_right = _moved(self._in_dialogue(tail, reference, instead), taken_back.end())
            return _once(_taken_back(said, put_right))
        found = self._in_dialogue(folded, reference, dialogue) if previous else self._without_context(folded, reference)
        return _once(found)

    def _alone(self, folded: str, reference: datetime | None) -> Sequence[FactCandidate]:
        if speech_acts.is_not_meant(folded):
            return ()
        return _once(self._statements(folded, reference))

    def _without_context(self, text: str, reference: datetime | None) -> list[FactCandidate]:
        opened = opening(text)
        if opened is None or not opened.firm:
            return self._statements(text, reference)
        found = _moved(self._statements(text[opened.start :], reference), opened.start)
        return [replace(fact, stance=Stance.CORRECTION) if fact.stance in _CORRECTABLE else fact for fact in found]

    def _in_dialogue(self, text: str, reference: datetime | None, dialogue: Dialogue) -> list[FactCandidate]:
        opened = opening(text)
        for at in (0, opened.start) if opened else (0,):
            if (contrasted := contrast(text[at:])) is not None:
                old, new, start = contrasted
                corrected = dialogue.instead(new, old)
                if corrected is not None:
                    return [_placed(corrected, at + start, at + start + len(new))]
        if opened is not None:
            rest = text[opened.start :]
            found = _moved(self._statements(rest, reference), opened.start)
            if found:
                return [dialogue.corrected(fact, opened.firm) for fact in found]
            head = next(sentences(rest), None)
            if (
                head is not None
                and not speech_acts.asks(head.text)
                and not (speech_acts.is_unreal(head.text) or speech_acts.is_doubted(head.text))
            ):
                corrected = dialogue.instead(head.text)
                if corrected is not None:
                    start = opened.start + head.start
                    return [_placed(corrected, start, start + len(head.text.rstrip()))]
        found = self._statements(text, reference, dialogue)
        if found:
            return [dialogue.in_place_of_known(fact) for fact in found]
        end = len(text.rstrip())
        return [_placed(fact, 0, end) for fact in dialogue.confirmed(text) or ()] or [
            _placed(fact, 0, end) for fact in dialogue.answered(text)
        ]

    def _statements(
        self, text: str, reference: datetime | None, dialogue: Dialogue | None = None
    ) -> list[FactCandidate]:
        found: list[FactCandidate] = []
        for sentence in sentences(text):
            if speech_acts.asks(sentence.text):
                sentence = Clause(sentence.start, speech_acts.stated_before_asking(sentence.text))
            if not sentence.text or speech_acts.is_unreal(sentence.text):
                continue
            listed = whole_list(sentence)
            if listed is not None and not any(
                judge(listed.text) for judge in (speech_acts.is_past, speech_acts.is_reported, speech_acts.is_doubted)
            ):
                facts = self._reader.read(spelled_out(listed.text), reference)
                if facts:
                    found += _spanned(facts, listed)
                    continue
            facts = self._of_clauses(sentence, reference, dialogue)
            found += facts
            if len(found) >= MAX_FACTS:
                break
        return found[:MAX_FACTS]

    def _of_clauses(
        self, sentence: Clause, reference: datetime | None, dialogue: Dialogue | None
    ) -> list[FactCandidate]:
        found: list[FactCandidate] = []
        reported = speech_acts.is_reported(sentence.text)
        about, carried, was, decided = _NOBODY, "", False, False
        for clause in clauses(sentence, self._reader.named.is_label):
            if speech_acts.opens_example(clause.text):
                break
            if adverbial := speech_acts.bare_adverbial(clause.text):
                carried = adverbial
                continue
            if announces(clause.text):
                decided = True
                continue
            if _ALONE_ME.match(clause.text):
                about = _USER
                continue
            if (somebody := newly(clause.text)) is not None:
                about, was = somebody, True
                continue
            period = bounded(clause.text, reference)
            if period is None and speech_acts.is_past(clause.text):
                was = True
                about = subject_of(clause.text) or (_USER if _ME.match(clause.text) else about)
                continue
            # "... and is a nurse now" asks nothing, though it begins like a question.
            asks = speech_acts.clause_asks(clause.text) and not _goes_on(about, clause.text)
            if asks or speech_acts.is_doubted(clause.text):
                continue
            said = spelled_out(period.clause if period else clause.text)
            own = _OWN_AGAIN.search(sentence.text[: clause.start - sentence.start]) and said[:2].lower() == "i "
            facts, about = self._of_clause(said, reference, about, reported and not own)
            if not facts and dialogue is not None and (switch := self._reader.switch(said)) and not switch.sort:
                changed = dialogue.switched(switch.value, switch.replaced)
                facts = [changed] if changed else []
            if not facts and decided and (value := text_value(clause.text)):
                facts = [self._reader.make("decision", value)]
            decided = False
            facts = [_carried(fact, carried, changed=was and _NOW.search(clause.text) is not None) for fact in facts]
            if period:
                facts = [replace(fact, valid_from=period.range.start, valid_to=period.range.end) for fact in facts]
            elif facts and (start := since(clause.text, reference)):
                facts = [replace(fact, valid_from=fact.valid_from or start) for fact in facts]
            found += _spanned(facts, clause)
        return found

    def _of_clause(
        self, clause: str, reference: datetime | None, about: str, reported: bool
    ) -> tuple[list[FactCandidate], str]:
        """What a clause states and whom the next one, if it names nobody, speaks of."""
        if about and (_WITHOUT_SUBJECT.match(clause) or _WITHOUT_SUBJECT_EN.match(clause)):
            # "我叫李雷，住在北京": the second clause speaks of the first one's subject.
            me = "我" if _WITHOUT_SUBJECT.match(clause) else "I "
            if about.startswith(PERSON):
                return self._reader.read_of(about, me + clause), about
            return self._reader.read(me + clause, reference, reported=reported), about
        if not reported and about.startswith(PERSON) and (on := told_on(about, clause) or went_on(about, clause)):
            return self._reader.read_of(about, on), about
        if _ELIDED.match(clause):
            clause = "I " + clause
        facts = self._reader.read(clause, reference, reported=reported)
        people = [fact for fact in facts if not fact.about_user]
        if people:
            return facts, people[-1].subject
        relation = next((fact for fact in facts if fact.kind is FactKind.RELATION), None)
        if relation is not None:
            return facts, f"{PERSON}/{relation.value_key}"
        if (somebody := subject_of(clause)) is not None:
            return facts, somebody
        if about and not facts and has_han(clause) and not _SOMEBODY.search(clause):
            return facts, about
        mine = not reported and ((bool(facts) and _ME.match(clause) is not None) or _ABOUT_ME.match(clause) is not None)
        return facts, _USER if mine else _NOBODY


def _goes_on(about: str, clause: str) -> bool:
    if about.startswith(PERSON):
        return went_on(about, clause) is not None
    return bool(about) and _WITHOUT_SUBJECT_EN.match(clause) is not None


_CORRECTABLE = (Stance.STANDING, Stance.CHANGE)


def _plain(text: str) -> str:
    """The text in plain width with quotations and asides blanked; offsets hold."""
    folded = fold_width_in_place(text[:MAX_CHARACTERS]).replace("\u2019", "'")
    return without_asides(speech_acts.without_quotations(folded))


def _carried(fact: FactCandidate, carried: str, *, changed: bool) -> FactCandidate:
    if carried == "one_off" and fact.kind in (FactKind.PREFERENCE, FactKind.CONSTRAINT):
        return replace(fact, stance=Stance.ONE_OFF)
    if (carried == "change" or changed) and fact.stance is Stance.STANDING:
        return replace(fact, stance=Stance.CHANGE)
    return fact


def _placed(fact: FactCandidate, start: int, end: int) -> FactCandidate:
    return replace(fact, start=start, end=max(end, start + 1))


def _spanned(facts: Sequence[FactCandidate], clause: Clause) -> list[FactCandidate]:
    return [_placed(fact, clause.start, clause.end) for fact in facts]


def _moved(facts: Sequence[FactCandidate], by: int) -> list[FactCandidate]:
    return [_placed(fact, fact.start + by, fact.end + by) for fact in facts]


def _taken_back(said: Sequence[FactCandidate], put_right: Sequence[FactCandidate]) -> list[FactCandidate]:
    """What a turn says that takes back a part of itself; its own slip replaces nothing that stood before."""
    kept = [
        fact
        for fact in (said if put_right else said[:-1])
        if not any(
            (fact.subject, fact.attribute) == (other.subject, other.attribute)
            and (fact.single_valued or fact.value_key in (other.value_key, other.replaces))
            for other in put_right
        )
    ]
    slips = {(fact.subject, fact.attribute, fact.value_key): fact for fact in said}
    for fact in put_right:
        slip = slips.get((fact.subject, fact.attribute, fact.replaces or ""))
        kept.append(replace(fact, stance=slip.stance, replaces=slip.replaces) if slip else fact)
    return kept


def _once(found: Sequence[FactCandidate]) -> tuple[FactCandidate, ...]:
    """Each statement once, the last wording of it, in order."""
    return tuple(
        {(fact.subject, fact.attribute, fact.value_key, fact.polarity): fact for fact in reversed(found)}.values()
    )[::-1]


def _states(text: str, tool: str) -> Iterator[FactCandidate]:
    for state in tool_states(text, tool):
        yield FactCandidate(
            FactKind.TOOL_STATE,
            f"{state.record}/{state.identifier}",
            state.attribute,
            state.value,
            state.value if state.attribute == "id" else value_key(state.value),
            None,
            single_valued=True,
            polarity=Polarity.AFFIRMED,
            strength=Strength.NORMAL,
            stance=Stance.STANDING,
            start=state.start,
            end=state.end,
            trust=Trust.UNTRUSTED,
        )
