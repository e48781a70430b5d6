"""The one place where a model's fact, once it is borne out by the text, becomes the writer's value."""

from dataclasses import dataclass

from rearview.adapters.llm.span_search import Span
from rearview.domain.fact import FactCandidate, Polarity, Stance, Strength
from rearview.ports.fact_grounds import AttributeTraits, StatedValue


@dataclass(frozen=True, slots=True)
class GroundedFact:
    """A fact whose every word was found in the turn it cites; `value` is None for a retraction."""

    subject: str
    attribute: str
    value: StatedValue | None
    traits: AttributeTraits
    polarity: Polarity
    stance: Stance
    span: Span


def to_candidate(fact: GroundedFact) -> FactCandidate:
    """Return the candidate. A retraction without a value is one of the attribute as a whole."""
    value = fact.value or StatedValue("", "")
    denied = fact.polarity is Polarity.DENIED and fact.traits.single_valued
    return FactCandidate(
        kind=fact.traits.kind,
        subject=fact.subject,
        attribute=fact.attribute,
        value=value.value,
        value_key=value.key,
        unit=value.unit,
        single_valued=fact.traits.single_valued,
        polarity=fact.polarity,
        strength=Strength.NORMAL,
        stance=Stance.NEGATION if denied and fact.stance is Stance.STANDING else fact.stance,
        start=fact.span.start,
        end=fact.span.end,
        category=value.category,
    )
