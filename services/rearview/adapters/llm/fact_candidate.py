"""The one place where a model's fact, once it is borne out by the text, becomes the writer's value."""

from dataclasses import dataclass

from rearview.adapters.llm.answer_schema import Stance
from rearview.adapters.llm.span_search import Span
from rearview.domain.text import FactCandidate, Polarity
from rearview.ports.fact_grounds import StatedValue


@dataclass(frozen=True, slots=True)
class GroundedFact:
    """A fact whose every word was found in the turn it cites; `value` is None for a retraction."""

    subject: str
    attribute: str
    value: StatedValue | None
    single_valued: bool
    polarity: Polarity
    stance: Stance
    span: Span


def to_candidate(fact: GroundedFact) -> FactCandidate | None:
    """Return the candidate; None for what a candidate cannot say: what holds for once, and what is taken back."""
    if fact.value is None or fact.stance in (Stance.ONE_OFF, Stance.RETRACTION):
        return None
    return FactCandidate(
        subject=fact.subject,
        attribute=fact.attribute,
        value=fact.value.value,
        unit=fact.value.unit,
        single_valued=fact.single_valued,
        polarity=fact.polarity,
        start=fact.span.start,
        end=fact.span.end,
    )
