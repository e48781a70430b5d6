"""Facts in turns, Chinese, English and mixed, by rules: `extract_facts` is the way in."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from rearview.domain.fact import EarlierTurn, FactCandidate
from rearview.language.facts.attributes import Attribute, InvalidAttributeFile, attributes, load_attributes
from rearview.language.facts.extractor import MAX_CHARACTERS, RuleFactExtractor
from rearview.language.facts.roles import SPEAKING_ROLES
from rearview.language.facts.topics import Topics, load_topics

__all__ = (
    "MAX_CHARACTERS",
    "SPEAKING_ROLES",
    "Attribute",
    "InvalidAttributeFile",
    "RuleFactExtractor",
    "Topics",
    "attributes",
    "extract_facts",
    "load_attributes",
    "load_topics",
)


def extract_facts(
    text: str,
    role: str,
    *,
    reference: datetime | None = None,
    previous: Sequence[EarlierTurn] = (),
    tool: str = "",
) -> tuple[FactCandidate, ...]:
    """Return what a turn states, by the shipped attributes; as `FactExtractor.extract_facts`."""
    return _shipped().extract_facts(text, role, reference=reference, previous=previous, tool=tool)


@lru_cache(maxsize=1)
def _shipped() -> RuleFactExtractor:
    return RuleFactExtractor()
