"""What a sentence states, clause by clause: whom each clause is about, and what the one before leaves open."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from rearview.domain.fact import PERSON, USER, FactCandidate, FactKind, Polarity, Stance
from rearview.language.facts import reach, speech_acts
from rearview.language.facts.candidates import ClauseReader
from rearview.language.facts.clauses import Clause, clauses
from rearview.language.facts.decisions import announced, announces
from rearview.language.facts.dialogue import Dialogue
from rearview.language.facts.echoes import echoed
from rearview.language.facts.elided import (
    goes_on,
    leaves_out_i,
    names_others,
    opening_on_oneself,
    with_measure,
    with_subject,
)
from rearview.language.facts.frames import frames, leaves_frame, outlasting, over, without_work
from rearview.language.facts.hearsay import told
from rearview.language.facts.informal import spelled_out
from rearview.language.facts.naming import called, name_alone, named_pet, relation_of
from rearview.language.facts.newcomers import brings_up, tells_trade, told_who
from rearview.language.facts.periods import bounded, since, starting
from rearview.language.facts.reading import text_value
from rearview.language.facts.relations import introduced, newly, of_kin, person, subject_of, told_on, went_on
from rearview.language.scripts import has_han

_NOBODY, _SOMETHING = "", "-"
_ME = re.compile("我(?!们公司|们的|妈|爸)|本人|(?:I|i)(?:'m|'ve|'d)?(?![a-z])|my ", re.IGNORECASE)
_ABOUT_ME = re.compile(
    "我(?:姓|跟|和|是(?!说)|今年|去年|前年|上个?月|刚|最近|从|在|来自|现在|目前|毕业|改名)|i(?:'m| am)\\s",
    re.IGNORECASE,
)
_ALONE_ME = re.compile("我(?:嘛|呢|啊|呀|个人|这个人|自己)+$")
_SOMEBODY = re.compile(r"[我你您他她它咱谁]|\b(?:i|you|he|she|it|they|we|my|your|his|her|this|that)\b", re.IGNORECASE)
_OWN_AGAIN, _REACH = re.compile(r"\b(?:so|but),?\s*$", re.IGNORECASE), 8
_HOLE = re.compile(r"\S {3,}\S")
_WORDED = (FactKind.CONSTRAINT, FactKind.DECISION, FactKind.PLAN)
_OF_PLACES = frozenset(("residence", "employer", "school", "owns"))
_NOW = re.compile("现在|如今|\\bnow\\b", re.IGNORECASE)


@dataclass(slots=True)
class _SoFar:
    """What the clauses read so far leave for the next one."""

    before: list[str]
    first: bool
    about: str = _NOBODY
    carried: str = ""
    was: bool = False
    past: bool = False
    decided: bool = False
    introduced: bool = False
    told_who: bool = False
    framed: bool = False
    last: list[FactCandidate] = field(default_factory=list)
    found: list[FactCandidate] = field(default_factory=list)


class SentenceReader:
    """Reads the clauses of sentences in order; stateless between sentences."""

    def __init__(self, reader: ClauseReader) -> None:
        self._reader = reader

    def read(
        self,
        sentence: Clause,
        reference: datetime | None,
        dialogue: Dialogue | None,
        *,
        earlier: Sequence[str],
        first: bool,
    ) -> list[FactCandidate]:
        """Return what the clauses of a sentence state.

        `earlier` are the sentences of the turn before it, `first` where it says nothing at all before it.
        """
        so_far = _SoFar(list(earlier), first)
        reported_from = reach.reported_from(sentence.text)
        for clause in clauses(sentence, self._reader.named.is_label):
            if speech_acts.opens_example(clause.text):
                break
            if so_far.found and over(clause.text):
                so_far.found = without_work(so_far.found)
            so_far.framed = (so_far.framed or frames(clause.text)) and not leaves_frame(clause.text)
            if self._only_leads_on(clause.text, reference, so_far):
                so_far.before.append(clause.text)
                continue
            at = clause.start - sentence.start
            reported = reported_from is not None and at >= reported_from
            if reported and clause.text[:2].lower() == "i ":
                reported = _OWN_AGAIN.search(sentence.text[max(0, at - _REACH) : at]) is None
            facts = self._of_clause(clause.text, reference, reported, so_far)
            if not facts and dialogue is not None:
                facts = self._switched(clause.text, dialogue)
            if not facts and so_far.decided:
                facts = self._decided(clause.text)
            so_far.decided = False
            if facts and _HOLE.search(clause.text):
                # Words of a quotation are missing from it.
                facts = [fact for fact in facts if fact.kind not in _WORDED]
            changed = so_far.was and _NOW.search(clause.text) is not None
            facts = [_carried(fact, so_far.carried, changed=changed) for fact in facts]
            if facts:
                so_far.last = facts
            so_far.told_who = told_who(so_far.told_who, clause.text, facts)
            if so_far.framed:
                facts = outlasting(facts)
            so_far.found += spanned(facts, clause)
            so_far.first = False
            so_far.past = so_far.past and not facts
            so_far.before.append(clause.text)
        return so_far.found

    def _only_leads_on(self, clause: str, reference: datetime | None, so_far: _SoFar) -> bool:
        """Whether a clause states nothing but bears on the next; what it leaves is put into `so_far`."""
        if adverbial := speech_acts.bare_adverbial(clause):
            so_far.carried = adverbial
            return True
        if announces(clause):
            so_far.decided = True
            return True
        if _ALONE_ME.match(clause):
            so_far.about, so_far.told_who = USER, True
            return True
        if (somebody := newly(clause)) is not None:
            so_far.about, so_far.was = somebody, True
            so_far.told_who = somebody == USER
            return True
        if bounded(clause, reference) is None and speech_acts.is_past(clause):
            so_far.was = so_far.past = True
            so_far.about = subject_of(clause) or (USER if _ME.match(clause) else so_far.about)
            so_far.told_who = so_far.about == USER and not (names_others(clause) or brings_up(clause))
            return True
        return False

    def _of_clause(
        self, clause: str, reference: datetime | None, reported: bool, so_far: _SoFar
    ) -> list[FactCandidate]:
        # "... and is a nurse now" asks nothing, though it begins like a question.
        asks = speech_acts.clause_asks(clause) and not (
            goes_on(so_far.about, clause)
            or (so_far.about.startswith(PERSON) and went_on(so_far.about, clause) is not None)
        )
        if asks or speech_acts.is_doubted(clause):
            return []
        if (heard := told(clause)) is not None:
            facts = self._dated(heard.what, reference)
            return [fact for fact in facts if fact.about_user and fact.attribute in heard.attributes]
        period = bounded(clause, reference)
        said = of_kin(spelled_out(period.clause if period else clause))
        if (named := self._named(said, so_far)) is not None:
            return named
        so_far.introduced = introduced(said)
        facts, so_far.about = self._said(said, reference, reported, so_far)
        if not facts and (echo := echoed(said, so_far.last)) is not None:
            facts, so_far.about = [echo], USER
        if period:
            return [replace(fact, valid_from=period.range.start, valid_to=period.range.end) for fact in facts]
        if facts and (start := since(clause, reference)):
            return [replace(fact, valid_from=fact.valid_from or start) for fact in facts]
        return facts

    def _named(self, clause: str, so_far: _SoFar) -> list[FactCandidate] | None:
        """What a clause says that names what was spoken of before it; None for other clauses."""
        name = called(clause) or (name_alone(clause) if so_far.introduced or _pet(so_far.last) else None)
        if name is None:
            return None
        pet = named_pet(so_far.last, name)
        if pet is not None:
            so_far.found.pop()
            return [pet]
        if so_far.about == USER and so_far.last and so_far.last[-1].attribute in _OF_PLACES:
            return []  # "我住在一个小区，叫……" names the place
        relation = relation_of(so_far.about)
        value = text_value(name) if relation else None
        if relation is None or value is None:
            # Of something else, whose name is not kept: no name of the speaker's.
            return [] if _pet(so_far.last) else None
        so_far.about, so_far.introduced = person(name), False
        return [self._reader.make("relation", value, topic=relation)]

    def _dated(self, clause: str, reference: datetime | None) -> list[FactCandidate]:
        """What a clause states, from the day on that stands at its end: "the rent goes up to $900 starting in July"."""
        facts = self._reader.read(clause, reference)
        if not facts and (dated := starting(clause, reference)) is not None:
            return [replace(fact, valid_from=dated.start) for fact in self._reader.read(dated.clause, reference)]
        return facts

    def _said(
        self, clause: str, reference: datetime | None, reported: bool, so_far: _SoFar
    ) -> tuple[list[FactCandidate], str]:
        """What a clause states and whom the next one, if it names nobody, speaks of."""
        about = so_far.about
        last = so_far.last[-1].attribute if so_far.last and about == USER else ""
        if (measured := with_measure(clause, last)) is not None:
            return self._reader.read(measured, reference), about
        if about not in (_NOBODY, _SOMETHING) and (full := with_subject(clause)) is not None:
            # "我叫李雷，住在北京": the second clause speaks of the first one's subject, and of what was where that did.
            if so_far.past and _NOW.search(clause) is None:
                return [], about
            if about.startswith(PERSON):
                return self._reader.read_of(about, full), about
            if tells_trade(clause) and not so_far.told_who:
                return [], about
            return self._reader.read(full, reference, reported=reported), about
        if (
            not reported
            and about.startswith(PERSON)
            and (on := told_on(about, clause, named=_named(so_far)) or went_on(about, clause))
        ):
            return self._reader.read_of(about, on, by_pronoun=True), about
        facts = self._dated(clause, reference) if not reported else self._reader.read(clause, reference, reported=True)
        if facts and facts[-1].attribute == "pet":
            # What follows without a subject is about the animal: "养了只猫，今年三岁".
            return facts, _SOMETHING
        if (
            not (facts or reported or so_far.past or about not in (_NOBODY, USER))
            and (so_far.first or about == USER or leaves_out_i(clause))
            and (full := opening_on_oneself(clause, first=so_far.first))
            and not any(names_others(words) for words in so_far.before)
        ):
            facts = self._reader.read(full, reference)
            if facts:
                return facts, USER
        people = [fact for fact in facts if not fact.about_user]
        if people:
            return facts, people[-1].subject
        relation = next((fact for fact in facts if fact.kind is FactKind.RELATION), None)
        if relation is not None:
            return facts, f"{PERSON}/{relation.value_key}"
        if (somebody := subject_of(clause)) is not None:
            return facts, somebody
        if not facts and brings_up(clause):
            return [], _SOMETHING
        if about and not facts and has_han(clause) and not _SOMEBODY.search(clause):
            return facts, about
        mine = not reported and ((bool(facts) and _ME.match(clause) is not None) or _ABOUT_ME.match(clause) is not None)
        return facts, USER if mine else _NOBODY

    def _decided(self, clause: str) -> list[FactCandidate]:
        """The decision that the clause before announced."""
        written, against = announced(clause)
        value = text_value(written)
        polarity = Polarity.DENIED if against else Polarity.AFFIRMED
        return [self._reader.make("decision", value, polarity=polarity)] if value else []

    def _switched(self, clause: str, dialogue: Dialogue) -> list[FactCandidate]:
        """The change that "换成……" means by what was said before."""
        switch = self._reader.switch(spelled_out(clause))
        if switch is None or switch.sort:
            return []
        changed = dialogue.switched(switch.value, switch.replaced)
        return [changed] if changed else []


def placed(fact: FactCandidate, start: int, end: int) -> FactCandidate:
    """Return a fact with the place of its words in the turn, one character at least."""
    return replace(fact, start=start, end=max(end, start + 1))


def spanned(facts: Sequence[FactCandidate], clause: Clause) -> list[FactCandidate]:
    """Return the facts of a clause with its place."""
    return [placed(fact, clause.start, clause.end) for fact in facts]


def _named(so_far: _SoFar) -> bool:
    """Whether whom the next clause may speak of was given a name as a relation of the speaker's."""
    return any(fact.kind is FactKind.RELATION and so_far.about == f"{PERSON}/{fact.value_key}" for fact in so_far.found)


def _pet(last: Sequence[FactCandidate]) -> bool:
    return bool(last) and last[-1].attribute == "pet"


def _carried(fact: FactCandidate, carried: str, *, changed: bool) -> FactCandidate:
    if carried == "one_off" and fact.kind in (FactKind.PREFERENCE, FactKind.CONSTRAINT):
        return replace(fact, stance=Stance.ONE_OFF)
    if (carried == "change" or changed) and fact.stance is Stance.STANDING:
        return replace(fact, stance=Stance.CHANGE)
    return fact
