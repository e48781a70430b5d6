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
from rearview.language.facts.dialogue import Dialogue, contrast, opening
from rearview.language.facts.periods import bounded, since
from rearview.language.facts.reading import text_value
from rearview.language.facts.relations import subject_of
from rearview.language.facts.roles import SPEAKING_ROLES, TOOL_ROLES
from rearview.language.facts.tool_states import tool_states
from rearview.language.facts.topics import Topics, topics
from rearview.language.facts.values import value_key
from rearview.language.scripts import fold_width_in_place

MAX_CHARACTERS = 4_000
"""Longer turns are read up to here."""

MAX_FACTS = 64
_USER, _NOBODY = "user", ""
_ME = re.compile("我(?!们公司|们的|妈|爸)|(?:I|i)(?:'m|'ve|'d)?(?![a-z])|my ", re.IGNORECASE)
_ABOUT_ME = re.compile("我(?:姓|是(?!说)|今年|在|来自|现在|目前|毕业|改名)|i(?:'m| am)\\s", re.IGNORECASE)
_WITHOUT_SUBJECT = re.compile(
    "(?:现在|目前)?(?:住在|来自|毕业于|在[^，。]{2,16}(?:工作|上班)|是一?[名个位]|喜欢|不太?喜欢|不怎么喜欢|讨厌|爱[吃喝看]|不[吃喝]|今年[0-9]"
    "|[0-9]{1,3}岁|对[^，。]{1,12}过敏|养了?[一两]|现居|(?:现在)?叫[^，。]{2,4}$|做[^，。]{2,8}的?$|会说)"
)
_WITHOUT_SUBJECT_EN = re.compile(
    r"(?:and )?(?:live in|live|work (?:as|at|for)|study at|speak|love|hate|prefer)\s", re.IGNORECASE
)
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
        if (contrasted := contrast(text)) is not None:
            old, new, start = contrasted
            corrected = dialogue.instead(new, old)
            if corrected is not None:
                return [_placed(corrected, start, start + len(new))]
        opened = opening(text)
        if opened is not None:
            rest = text[opened.start :]
            found = _moved(self._statements(rest, reference), opened.start)
            if found:
                return [dialogue.corrected(fact, opened.firm) for fact in found]
            head = next(sentences(rest), None)
            if head is not None and not speech_acts.asks(head.text) and not speech_acts.is_unreal(head.text):
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
            if speech_acts.asks(sentence.text) or speech_acts.is_unreal(sentence.text):
                continue
            listed = whole_list(sentence)
            if listed is not None and not speech_acts.is_past(listed.text) and not speech_acts.is_reported(listed.text):
                facts = self._reader.read(listed.text, reference)
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
            period = bounded(clause.text, reference)
            if period is None and speech_acts.is_past(clause.text):
                was = True
                continue
            if speech_acts.clause_asks(clause.text):
                continue
            said = period.clause if period else clause.text
            facts, about = self._of_clause(said, reference, about, reported)
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
        facts = self._reader.read(clause, reference, reported=reported)
        people = [fact for fact in facts if not fact.about_user]
        if people:
            return facts, people[-1].subject
        relation = next((fact for fact in facts if fact.kind is FactKind.RELATION), None)
        if relation is not None:
            return facts, f"{PERSON}/{relation.value_key}"
        if (somebody := subject_of(clause)) is not None:
            return facts, somebody
        mine = not reported and ((bool(facts) and _ME.match(clause) is not None) or _ABOUT_ME.match(clause) is not None)
        return facts, _USER if mine else _NOBODY


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
