"""Facts that a turn states clearly. Precision comes first: when in doubt, nothing.

Questions, hypotheticals, the past, reported speech, quotations, jests and examples give no facts, and what documents,
assistants and tools say gives none about the user.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rearview.domain.fact import EarlierTurn, FactCandidate, FactKind, Polarity, Stance, Strength
from rearview.domain.memory import Trust
from rearview.language.facts import speech_acts
from rearview.language.facts.asides import without_asides
from rearview.language.facts.attributes import Attribute, attributes
from rearview.language.facts.candidates import ClauseReader
from rearview.language.facts.clauses import Clause, sentences, whole_list
from rearview.language.facts.dialogue import TAKEN_BACK, Dialogue, contrast, opening
from rearview.language.facts.informal import spelled_out
from rearview.language.facts.reach import (
    before_commission,
    stated_before_asking,
    stated_before_supposing,
    without_courtesies,
)
from rearview.language.facts.roles import SPEAKING_ROLES, TOOL_ROLES
from rearview.language.facts.sentence_reader import SentenceReader, placed, spanned
from rearview.language.facts.tool_states import tool_states
from rearview.language.facts.topics import Topics, topics
from rearview.language.facts.values import value_key
from rearview.language.scripts import fold_width_in_place

MAX_CHARACTERS = 4_000
"""Longer turns are read up to here."""

MAX_FACTS = 64


class RuleFactExtractor:
    """The `FactExtractor` port over rules, for one table of attributes and what they may be of; stateless."""

    def __init__(self, table: Mapping[str, Attribute] | None = None, of: Topics | None = None) -> None:
        self._reader = ClauseReader(attributes() if table is None else table, topics() if of is None else of)
        self._sentences = SentenceReader(self._reader)

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
        if option := list(dialogue.chosen(text)):
            return [placed(fact, 0, len(text.rstrip())) for fact in option]
        opened = opening(text)
        for at in (0, opened.start) if opened else (0,):
            if (contrasted := contrast(text[at:])) is not None:
                old, new, start = contrasted
                corrected = dialogue.instead(new, old)
                if corrected is not None:
                    return [placed(corrected, at + start, at + start + len(new))]
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
                    return [placed(corrected, start, start + len(head.text.rstrip()))]
        found = self._statements(text, reference, dialogue)
        if found:
            return [dialogue.in_place_of_known(fact) for fact in found]
        end = len(text.rstrip())
        return [placed(fact, 0, end) for fact in dialogue.confirmed(text) or ()] or [
            placed(fact, 0, end) for fact in dialogue.answered(text)
        ]

    def _statements(
        self, text: str, reference: datetime | None, dialogue: Dialogue | None = None
    ) -> list[FactCandidate]:
        found: list[FactCandidate] = []
        before: list[str] = []
        start = len(text) - len(text.lstrip())
        for said in sentences(text):
            sentence, earlier = said, tuple(before)
            before.append(said.text)
            if speech_acts.asks(sentence.text):
                sentence = Clause(sentence.start, stated_before_asking(sentence.text))
            sentence = Clause(sentence.start, stated_before_supposing(sentence.text))
            if not sentence.text:
                continue
            listed = whole_list(sentence)
            if listed is not None and not any(
                judge(listed.text) for judge in (speech_acts.is_past, speech_acts.is_reported, speech_acts.is_doubted)
            ):
                facts = self._reader.read(spelled_out(listed.text), reference)
                if facts:
                    found += spanned(facts, listed)
                    continue
            facts = self._sentences.read(sentence, reference, dialogue, earlier=earlier, first=said.start == start)
            found += facts
            if len(found) >= MAX_FACTS:
                break
        return found[:MAX_FACTS]


_CORRECTABLE = (Stance.STANDING, Stance.CHANGE)


def _plain(text: str) -> str:
    """The text in plain width with quotations and asides blanked; offsets hold."""
    folded = fold_width_in_place(text[:MAX_CHARACTERS]).replace("\u2019", "'")
    return before_commission(without_courtesies(without_asides(speech_acts.without_quotations(folded))))


def _moved(facts: Sequence[FactCandidate], by: int) -> list[FactCandidate]:
    return [placed(fact, fact.start + by, fact.end + by) for fact in facts]


def _taken_back(said: Sequence[FactCandidate], put_right: Sequence[FactCandidate]) -> list[FactCandidate]:
    """What a turn says that takes back a part of itself; its own slip replaces nothing that stood before."""
    kept = [
        fact
        for fact in (said if put_right else said[:-1])
        if not any(
            (fact.subject, fact.attribute) == (other.subject, other.attribute)
            and (
                fact.single_valued
                or fact.value_key in (other.value_key, other.replaces)
                or (fact is said[-1] and fact.polarity is other.polarity)
            )
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
