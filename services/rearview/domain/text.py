"""What a piece of text was found to contain: values only, no analysis."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Language(StrEnum):
    """A language the product treats as its own; mixed text has both."""

    ZH = "zh"
    EN = "en"


class EntityType(StrEnum):
    """Kinds of things a memory can be about."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    PRODUCT = "product"
    TIME = "time"
    IDENTIFIER = "identifier"
    QUANTITY = "quantity"
    OTHER = "other"


class Intent(StrEnum):
    """What the speaker of a turn does with it."""

    INFORM = "inform"
    REQUEST = "request"
    DECIDE = "decide"
    PLAN = "plan"
    PREFER = "prefer"
    ASK = "ask"
    OTHER = "other"


class PiiCategory(StrEnum):
    """What redaction can remove; the value is the word in the placeholder, as in `[PHONE]`."""

    PHONE = "PHONE"
    EMAIL = "EMAIL"
    NATIONAL_ID = "NATIONAL_ID"
    BANK_CARD = "BANK_CARD"
    IBAN = "IBAN"
    PASSPORT = "PASSPORT"
    LICENSE_PLATE = "LICENSE_PLATE"
    IP = "IP"
    SECRET = "SECRET"  # noqa: S105 - the name of a category
    PASSWORD = "PASSWORD"  # noqa: S105 - the name of a category
    DATE_OF_BIRTH = "DATE_OF_BIRTH"
    ADDRESS = "ADDRESS"
    PERSON = "PERSON"
    ORGANISATION = "ORGANISATION"

    @property
    def placeholder(self) -> str:
        """The text that stands where the value was, outside sessions."""
        return f"[{self.value}]"

    def numbered(self, number: int) -> str:
        """Return the text that stands for the number-th value of a session, so that it can be told from others."""
        return f"[{self.value}_{number}]"


DEFAULT_CATEGORIES = frozenset(PiiCategory) - {
    PiiCategory.DATE_OF_BIRTH,
    PiiCategory.ADDRESS,
    PiiCategory.PERSON,
    PiiCategory.ORGANISATION,
}
"""What is redacted unless a tenant's policy says otherwise: what identifies or unlocks, and is no use as a memory."""
MODEL_CATEGORIES = frozenset({PiiCategory.PERSON, PiiCategory.ORGANISATION})
"""What takes a language model to find, some milliseconds a turn; only a policy that names them pays for it."""


@dataclass(frozen=True, slots=True)
class Entity:
    """One mention; `start` and `end` are character offsets, half-open, in the text that was analysed.

    `canonical` is the form two mentions share across case, width, language and alias.
    """

    type: EntityType
    text: str
    canonical: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentiment:
    """`valence` in [-1, 1], from bad to good; `intensity` in [0, 1], from calm to moved."""

    valence: float
    intensity: float

    def __post_init__(self) -> None:
        if not -1.0 <= self.valence <= 1.0:
            raise ValueError(f"valence must be in [-1, 1], got {self.valence}")
        if not 0.0 <= self.intensity <= 1.0:
            raise ValueError(f"intensity must be in [0, 1], got {self.intensity}")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A half-open stretch of time, [start, end), both aware and in UTC."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        for name, moment in (("start", self.start), ("end", self.end)):
            if moment.utcoffset() != timedelta(0):
                raise ValueError(f"{name} must be an aware UTC time, got {moment!r}")
        if self.end <= self.start:
            raise ValueError(f"end must be after start, got [{self.start}, {self.end})")

    def contains(self, moment: datetime) -> bool:
        """Whether an aware moment lies in the range; the end itself does not."""
        return self.start <= moment < self.end

    def overlaps(self, other: "TimeRange") -> bool:
        """Whether the two ranges share any moment."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class RedactedSpan:
    """Where a value was, as half-open character offsets in the text before redaction."""

    category: PiiCategory
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text that is safe to store, and what was taken out of it, in order of appearance."""

    text: str
    spans: tuple[RedactedSpan, ...] = ()

    @property
    def categories(self) -> tuple[PiiCategory, ...]:
        """The categories found, each once, in order of first appearance."""
        return tuple(dict.fromkeys(span.category for span in self.spans))
