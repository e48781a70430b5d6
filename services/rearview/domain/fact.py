"""What a turn states about its speaker or about others: values only, no analysis.

A candidate is a reading of words; whether it becomes a fact, and what it supersedes, is decided by the writer.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from rearview.domain.memory import Trust

USER = "user"
"""The subject of what a speaker says of themself; `user/<topic>` is something of theirs."""

PERSON = "person"
"""What another person's subject begins with: `person/<name>`, or `person/<relation>` where no name was said."""


ANY_OF = "\n"
"""What stands between the keys in `replaces` where any of several values is replaced; no key holds it."""


class Polarity(StrEnum):
    """Whether a fact holds ("I like tea") or is denied ("I do not like tea")."""

    AFFIRMED = "affirmed"
    DENIED = "denied"


class FactKind(StrEnum):
    """The families of attributes."""

    PREFERENCE = "preference"
    IDENTITY = "identity"
    POSSESSION = "possession"
    MEASURE = "measure"
    CONSTRAINT = "constraint"
    HEALTH = "health"
    PLAN = "plan"
    RELATION = "relation"
    DECISION = "decision"
    TOOL_STATE = "tool_state"


class Strength(StrEnum):
    """How strongly it was said; PREFERRED is "rather this than that"."""

    WEAK = "weak"
    NORMAL = "normal"
    PREFERRED = "preferred"
    STRONG = "strong"


class Stance(StrEnum):
    """How a statement relates to what was said before.

    STANDING: it simply holds. ONE_OFF: for this once, it changes nothing ("今天想喝拿铁"). CHANGE: from now on
    ("换成拿铁"). CORRECTION: an earlier statement was wrong ("不对，是8000"). RETRACTION: an earlier statement holds no
    more and nothing takes its place ("forget the budget"). NEGATION: a value does not hold ("my budget is not 8000").
    """

    STANDING = "standing"
    ONE_OFF = "one_off"
    CHANGE = "change"
    CORRECTION = "correction"
    RETRACTION = "retraction"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A turn that came before, as context for corrections, confirmations and answers."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """One clear statement, as it was read.

    `subject` is `user`, `user/<topic>` (a travel budget, a favourite film, the name of a sister), `person/<name>`, or
    `<record>/<id>` for what a tool returned. `attribute` is one of the known attributes. `value` is as said, but for
    amounts (plain decimals) and dates (ISO; `--05-07` without a year). `value_key` is equal for equal values whatever
    their language, spelling and unit; amounts are converted to the attribute's unit. `unit` is an ISO 4217 code for
    money, else the attribute's unit, None where none was said. `start` and `end` are half-open character offsets of
    the statement. `valid_from` and `valid_to` are UTC moments, where said. `category` says what sort of thing a
    preference is about (`drink`, `seat`), where that is known: a change replaces what stands in its category.
    `replaces` is the `value_key` of the value it takes the place of, where that was said or is known from context;
    of several, joined by ANY_OF, where it takes the place of all of a sort ("我的咖啡都换成拿铁").
    A retraction of an attribute as a whole has an empty `value` and `value_key`.
    """

    kind: FactKind
    subject: str
    attribute: str
    value: str
    value_key: str
    unit: str | None
    single_valued: bool
    polarity: Polarity
    strength: Strength
    stance: Stance
    start: int
    end: int
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    category: str | None = None
    replaces: str | None = None
    trust: Trust = Trust.TRUSTED

    @property
    def about_user(self) -> bool:
        """Whether it speaks of the speaker and not of somebody or something else."""
        return self.subject == USER or self.subject.startswith(USER + "/")

    @property
    def may_supersede(self) -> bool:
        """Whether it may take the place of a standing fact: trusted, lasting, and not about a time that is over."""
        return self.trust is Trust.TRUSTED and self.stance is not Stance.ONE_OFF and self.valid_to is None

    def same_value(self, other: "FactCandidate") -> bool:
        """Whether both name one value; an amount without a unit equals the same amount in any unit."""
        units_agree = self.unit is None or other.unit is None or self.unit == other.unit
        return self.value_key == other.value_key and units_agree
