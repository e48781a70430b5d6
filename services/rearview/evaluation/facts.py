"""How well facts are read out of turns: against a file of utterances, with the extractor in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml

from rearview.domain.errors import invalid_field
from rearview.domain.fact import USER, EarlierTurn, FactCandidate, Polarity, Stance
from rearview.language.facts import attributes
from rearview.language.facts.values import value_key
from rearview.ports.fact_extractor import FactExtractor

_SHIPPED = "facts.yaml"
_TUNING, _HELD_OUT = "tuning", "held_out"


@dataclass(frozen=True, slots=True)
class ExpectedFact:
    """What should be read; fields that are None are not compared."""

    subject: str
    attribute: str
    value_key: str
    polarity: str
    stance: str
    unit: str | None = None
    strength: str | None = None
    replaces: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def may_supersede(self) -> bool:
        """Whether the utterance may take the place of a standing fact about the user."""
        return _about_user(self.subject) and self.stance != Stance.ONE_OFF and self.valid_to is None


@dataclass(frozen=True, slots=True)
class Utterance:
    """A turn with what it states; odd ids are for tuning, even ones held out."""

    id: int
    text: str
    role: str
    trap: str | None
    previous: tuple[EarlierTurn, ...]
    facts: tuple[ExpectedFact, ...]

    @property
    def half(self) -> str:
        """`tuning` or `held_out`."""
        return _TUNING if self.id % 2 else _HELD_OUT


@dataclass(frozen=True, slots=True)
class FactsFile:
    """Utterances, all said at `reference`, an aware moment in the speakers' zone."""

    reference: datetime
    utterances: tuple[Utterance, ...]


@dataclass(slots=True)
class Tally:
    """Counts of facts found rightly, found wrongly, and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, right: int, wrong: int, missed: int) -> None:
        """Count one utterance."""
        self.right += right
        self.wrong += wrong
        self.missed += missed

    def figures(self) -> dict[str, float | int]:
        """Precision, recall and F1, 1 where there was nothing to find and nothing was found."""
        precision = self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0
        recall = self.right / (self.right + self.missed) if self.right + self.missed else 1.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return {
            "f1": round(f1, 4),
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "right": self.right,
            "wrong": self.wrong,
            "missed": self.missed,
        }


@dataclass(slots=True)
class FactsEvaluation:
    """What the extractor made of a file. `failures` are of the tuning half alone: the other is not to be tuned on."""

    utterances: int = 0
    traps: int = 0
    by_trap: dict[str, dict[str, int]] = field(default_factory=dict)
    whole: Tally = field(default_factory=Tally)
    by_half: dict[str, Tally] = field(default_factory=dict)
    by_kind: dict[str, Tally] = field(default_factory=dict)
    false_supersessions: Counter[str] = field(default_factory=Counter)
    wrong_values: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {
            "utterances": self.utterances,
            "traps": self.traps,
            "traps_kept": sum(counts["kept"] for counts in self.by_trap.values()),
            **self.whole.figures(),
            "false_supersessions": self.false_supersessions.total(),
            "wrong_values": self.wrong_values.total(),
            "by_half": {
                half: {
                    **tally.figures(),
                    "false_supersessions": self.false_supersessions[half],
                    "wrong_values": self.wrong_values[half],
                }
                for half, tally in sorted(self.by_half.items())
            },
            "by_kind": {kind: tally.figures() for kind, tally in sorted(self.by_kind.items())},
            "by_trap": dict(sorted(self.by_trap.items())),
            "failures": self.failures,
        }


def read_facts_file(path: Path | None) -> FactsFile:
    """Return a file of utterances, the shipped one for None.

    Raises:
        InvalidFields: the file has not the shape of the shipped one; the field is named.
    """
    text = (
        files("rearview.evaluation").joinpath("data", _SHIPPED).read_text(encoding="utf-8")
        if path is None
        else path.read_text(encoding="utf-8")
    )
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise invalid_field("file", f"is not YAML: {error}") from error
    try:
        zone = ZoneInfo(str(content["zone"]))
        reference = datetime.fromisoformat(str(content["reference"])).astimezone(zone)
        rows = list(content["utterances"])
    except (KeyError, TypeError, ValueError, ZoneInfoNotFoundError) as error:
        raise invalid_field("file", f"needs reference, zone and utterances: {error}") from error
    return FactsFile(reference, tuple(_utterance(index, row) for index, row in enumerate(rows)))


def evaluate_facts(data: FactsFile, extractor: FactExtractor) -> FactsEvaluation:
    """Return how the extractor's candidates compare with what was expected.

    A false supersession is a candidate about the user that may take the place of a standing fact where the utterance
    states none of that subject and attribute; a wrong value is one where it states another value of an attribute that
    holds one.
    """
    result = FactsEvaluation()
    for utterance in data.utterances:
        found = extractor.extract_facts(
            utterance.text, utterance.role, reference=data.reference, previous=utterance.previous
        )
        _compare(utterance, found, data.reference, result)
    return result


def _compare(
    utterance: Utterance, found: Sequence[FactCandidate], reference: datetime, result: FactsEvaluation
) -> None:
    open_facts = list(utterance.facts)
    wrong: list[FactCandidate] = []
    right: list[FactCandidate] = []
    for candidate in found:
        match = next((fact for fact in open_facts if _same(fact, candidate, reference)), None)
        if match is None:
            wrong.append(candidate)
        else:
            open_facts.remove(match)
            right.append(candidate)
    half = utterance.half
    for tally in (result.whole, result.by_half.setdefault(half, Tally())):
        tally.add(len(right), len(wrong), len(open_facts))
    for candidate in right:
        result.by_kind.setdefault(candidate.kind, Tally()).add(1, 0, 0)
    for candidate in wrong:
        result.by_kind.setdefault(candidate.kind, Tally()).add(0, 1, 0)
    for fact in open_facts:
        result.by_kind.setdefault(_kind_of(fact.attribute), Tally()).add(0, 0, 1)
    result.utterances += 1
    if utterance.trap:
        result.traps += 1
        counts = result.by_trap.setdefault(utterance.trap, {"kept": 0, "sprung": 0})
        counts["sprung" if wrong else "kept"] += 1
    for candidate in wrong:
        if candidate.about_user and candidate.may_supersede:
            stated = any(
                fact.may_supersede and (fact.subject, fact.attribute) == (candidate.subject, candidate.attribute)
                for fact in utterance.facts
            )
            result.false_supersessions[half] += not stated
            result.wrong_values[half] += stated and candidate.single_valued
    if half == _TUNING and (wrong or open_facts):
        result.failures.append(
            {
                "id": utterance.id,
                "text": utterance.text,
                "wrong": [_shown(candidate) for candidate in wrong],
                "missed": [f"{fact.subject} {fact.attribute}={fact.value_key} {fact.stance}" for fact in open_facts],
            }
        )


def _same(fact: ExpectedFact, candidate: FactCandidate, reference: datetime) -> bool:
    zone = reference.tzinfo
    moments = (
        (fact.valid_from, candidate.valid_from),
        (fact.valid_to, candidate.valid_to),
    )
    optional: Iterable[tuple[str | None, str | None]] = (
        (fact.unit, candidate.unit),
        (fact.strength, candidate.strength),
        (fact.replaces, candidate.replaces),
        *((said, moment.astimezone(zone).date().isoformat() if moment else None) for said, moment in moments),
    )
    return (
        fact.subject == candidate.subject
        and fact.attribute == candidate.attribute
        and fact.value_key == candidate.value_key
        and fact.polarity == candidate.polarity
        and fact.stance == candidate.stance
        and all(expected is None or expected == got for expected, got in optional)
    )


def _kind_of(attribute: str) -> str:
    known = attributes().get(attribute)
    return known.kind if known else "unknown"


def _utterance(index: int, row: Any) -> Utterance:
    where = f"utterances[{index}]"
    if not isinstance(row, Mapping) or not isinstance(row.get("id"), int) or not isinstance(row.get("text"), str):
        raise invalid_field(where, "needs an id (a whole number) and a text")
    try:
        previous = tuple(EarlierTurn(str(turn["role"]), str(turn["text"])) for turn in row.get("previous", ()))
        facts = tuple(_expected(fact) for fact in row.get("facts", ()))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise invalid_field(where, f"has a turn or a fact that cannot be read: {error}") from error
    return Utterance(row["id"], row["text"], str(row.get("role", USER)), row.get("trap"), previous, facts)


def _expected(row: Mapping[str, Any]) -> ExpectedFact:
    subject = str(row.get("subject", USER))
    attribute, value = str(row["attribute"]), str(row["value"])
    optional = {name: str(row[name]) for name in ("unit", "strength", "valid_from", "valid_to") if name in row}
    replaces = value_key(str(row["replaces"])) if "replaces" in row else None
    return ExpectedFact(
        subject,
        attribute,
        value if attribute == "id" else value_key(value),
        Polarity(row.get("polarity", Polarity.AFFIRMED)),
        Stance(row.get("stance", Stance.STANDING)),
        replaces=replaces,
        **optional,
    )


def _shown(candidate: FactCandidate) -> str:
    return (
        f"{candidate.subject} {candidate.attribute}={candidate.value_key} {candidate.unit or ''} {candidate.polarity}"
        f" {candidate.stance} {candidate.strength} from={candidate.valid_from} to={candidate.valid_to}"
        f" replaces={candidate.replaces}"
    )


def _about_user(subject: str) -> bool:
    return subject == USER or subject.startswith(USER + "/")
