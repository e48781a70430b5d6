"""Statements made into memories that read well out of context."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from rearview.domain.consistency import HeldValue, confidence
from rearview.domain.extraction import Provenance, TurnReading
from rearview.domain.fact import PERSON, USER, FactCandidate, FactKind, Polarity, Stance
from rearview.domain.ids import new_id
from rearview.domain.memory import Fact, Memory, MemoryType, Origin, Trust
from rearview.domain.text import Language
from rearview.ports.analyzer import Analysis
from rearview.ports.attribute_names import AttributeNames
from rearview.ports.turn_reading import Canonical

_TYPE_OF_KIND = {FactKind.CONSTRAINT: MemoryType.CONSTRAINT, FactKind.DECISION: MemoryType.DECISION}
_NEEDS_GLOSS = frozenset((Stance.CHANGE, Stance.CORRECTION))
_FIRST_PERSON = re.compile(r"我|咱|\b(?:i|i'm|i've|i'd|my|me|mine|we|our|us)\b", re.IGNORECASE)
_SELF_NAMES = frozenset(("", "user", "用户", "me", "我", "human"))
_MOST_CHARACTERS = 2_000
MOST_FACTS = 32
"""So many statements of one turn become facts."""

_TURNS_OF_A_MOMENT = 1_000


@dataclass(frozen=True, slots=True)
class Source:
    """What a statement was found in: a turn, or a text that was to be remembered.

    `source_id` is the event's or the memory's id, `role_trust` how far whoever said it is trusted.
    `sequence` is a turn's place in its session.
    """

    source_id: UUID
    text: str
    occurred_at: datetime
    origin: Origin
    trust: Trust
    analysis: Analysis
    session_id: str = ""
    speaker: str = ""
    redactions: tuple[str, ...] = ()
    valid_from: datetime | None = None
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class DraftedFact:
    """A statement as a memory and as a value, before it has a search unit; `ends` when it makes no memory."""

    memory: Memory
    value: HeldValue
    ends: bool


class FactDrafter:
    """Turns what was read into memories."""

    def __init__(self, names: AttributeNames, canonical: Canonical, generation_id: str) -> None:
        self._generation_id = generation_id
        self._names = names
        self._canonical = canonical

    def drafts(self, source: Source, reading: TurnReading, now: datetime) -> list[DraftedFact]:
        """Return the statements of a reading, without one-offs, which change nothing that is known."""
        stated = [
            candidate
            for candidate in reading.facts
            if candidate.stance is not Stance.ONE_OFF and _may_state(source, candidate)
        ]
        # What is said later in one turn, or in a later turn of the same moment, was told later.
        first = max(source.sequence - 1, 0) % _TURNS_OF_A_MOMENT * MOST_FACTS
        return [
            self._draft(source, candidate, source.occurred_at + timedelta(microseconds=at), reading.provenance, now)
            for at, candidate in enumerate(stated[:MOST_FACTS], first)
        ]

    def _draft(
        self, source: Source, candidate: FactCandidate, told_at: datetime, provenance: Provenance, now: datetime
    ) -> DraftedFact:
        subject = self._subject(source, candidate.subject)
        trust = min(source.trust, candidate.trust)
        starts_at = candidate.valid_from or source.valid_from or source.occurred_at
        denied = candidate.polarity is Polarity.DENIED
        content = self._content(source, candidate)
        memory = Memory(
            memory_id=new_id(),
            type=_TYPE_OF_KIND.get(candidate.kind, MemoryType.FACT),
            content=content,
            occurred_at=source.occurred_at,
            occurred_until=source.occurred_at,
            created_at=now,
            updated_at=now,
            origin=source.origin,
            trust=trust,
            entities=tuple(entity for entity in source.analysis.entities if entity.text in content),
            intent=source.analysis.intent,
            sentiment=source.analysis.sentiment,
            confidence=confidence(trust, 1),
            valid_from=starts_at,
            valid_to=candidate.valid_to,
            session_id=source.session_id,
            languages=source.analysis.languages,
            generation_id=self._generation_id,
            redactions=tuple(name for name in source.redactions if f"[{name.upper()}" in content),
            fact=Fact(
                subject=subject,
                attribute=candidate.attribute,
                value=candidate.value,
                unit=candidate.unit or "",
                single_valued=candidate.single_valued,
                value_key=candidate.value_key,
                denied=denied,
                stance=candidate.stance.value,
                category=candidate.category or "",
                replaces=candidate.replaces or "",
                extractor=provenance.extractor,
                prompt_version=provenance.prompt_version,
                note=":".join(filter(None, (provenance.note, provenance.reason))),
            ),
        )
        value = HeldValue(
            memory_id=memory.memory_id,
            value_key=candidate.value_key,
            told_at=told_at,
            source_id=source.source_id,
            starts_at=starts_at,
            unit=candidate.unit or "",
            denied=denied,
            single_valued=candidate.single_valued,
            stance=candidate.stance,
            category=candidate.category or "",
            replaces=candidate.replaces or "",
            trust=trust,
            valid_to=candidate.valid_to,
        )
        return DraftedFact(memory, value, ends=candidate.stance is Stance.RETRACTION)

    def _subject(self, source: Source, subject: str) -> str:
        """Return the subject with the speaker in the user's place where several people speak and have names."""
        speaker = self._canonical(source.speaker)
        if speaker in _SELF_NAMES or not (subject == USER or subject.startswith(f"{USER}/")):
            return subject
        return f"{PERSON}/{speaker}{subject[len(USER) :]}"

    def _content(self, source: Source, candidate: FactCandidate) -> str:
        said = source.text[candidate.start : candidate.end].strip()[:_MOST_CHARACTERS]
        chinese = Language.ZH in source.analysis.languages
        if source.origin is Origin.TOOL:
            label = self._names.label(candidate.attribute, Language.EN)
            said = f"{candidate.subject} {label}: {candidate.value}"
        elif self._needs_gloss(said, candidate):
            label = self._names.label(candidate.attribute, Language.ZH if chinese else Language.EN)
            value = f"{candidate.value} {candidate.unit or ''}".rstrip()
            said = f"{said}（{label}：{value}）" if chinese else f"{said} ({label}: {value})"
        return f"{source.speaker}: {said}" if source.speaker else said

    def _needs_gloss(self, said: str, candidate: FactCandidate) -> bool:
        if not candidate.value or self._names.is_named_in(candidate.attribute, said):
            return False
        return candidate.stance in _NEEDS_GLOSS or _FIRST_PERSON.search(said) is None


def _may_state(source: Source, candidate: FactCandidate) -> bool:
    """Only what users say of themselves and of others becomes theirs; a tool speaks of its records alone."""
    if candidate.kind is FactKind.TOOL_STATE:
        return True
    return source.trust is Trust.TRUSTED and source.origin is Origin.USER


def as_adopted(draft: DraftedFact, turn_memory: Memory) -> DraftedFact:
    """Return a statement whose memory is the one that its turn made already."""
    return replace(
        draft,
        memory=replace(draft.memory, memory_id=turn_memory.memory_id, content=turn_memory.content),
        value=replace(draft.value, memory_id=turn_memory.memory_id),
    )


def adopter(drafts: Sequence[DraftedFact], memory_type: MemoryType) -> DraftedFact | None:
    """Return the first statement that a turn's own memory of a forced kind stands for."""
    if memory_type is MemoryType.EPISODE:
        return None
    return next((draft for draft in drafts if draft.memory.type is memory_type and not draft.ends), None)
