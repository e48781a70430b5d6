"""Names that a clause gives to what the clause before spoke of: "养了只布偶，叫奶糖", "I have a brother, Marcus"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from rearview.domain.fact import PERSON, FactCandidate
from rearview.language.facts.reading import text_value
from rearview.language.facts.statement import NAME_EN, TITLED_NAME_EN, ZH_PERSON

_CALLED = re.compile(
    rf"(?:(?:它|他|她)(?:的)?)?(?:(?:名字|小名|大名)(?:就)?(?:叫做?|是)|(?:取|起)(?:了?个)?名(?:字)?(?:叫|为)?|(?:就)?叫做?)\s*(?P<zh>{ZH_PERSON}|{NAME_EN}"
    rf"|(?![我你您他她什做去来])[\u4e00-\u9fff]{{2,4}}?)(?:的?|哦|啦|哈)$"
    rf"|(?:(?:i |we )?(?:named|called)(?: (?:him|her|it|them))?|(?:his|her|its|their) names? (?:is|are)|(?:his|her"
    rf"|its) name's"
    rf"|(?:he|she|it)(?:'s| is) (?:called|named)|they're called) (?P<en>{TITLED_NAME_EN}(?: and {NAME_EN})?)$",
    re.IGNORECASE,
)
_NAME_ALONE = re.compile(rf"{TITLED_NAME_EN}(?: and {NAME_EN})?$")


def called(clause: str) -> str | None:
    """Return the name that a clause gives to what was spoken of before it; None for other clauses."""
    match = _CALLED.match(clause)
    return (match["zh"] or match["en"]) if match else None


def name_alone(clause: str) -> str | None:
    """Return a clause that is nothing but a name; None for other clauses."""
    return clause if _NAME_ALONE.match(clause) else None


def named_pet(facts: Sequence[FactCandidate], name: str) -> FactCandidate | None:
    """Return the pet that was told of last with its name; None where that was no pet, or has a name."""
    if not facts or facts[-1].attribute != "pet" or facts[-1].value.endswith(")"):
        return None
    value = text_value(f"{facts[-1].value} ({name})")
    return replace(facts[-1], value=value.value, value_key=value.key) if value else None


def relation_of(subject: str) -> str | None:
    """Return the relation that a subject is known by, None for other subjects."""
    return subject.removeprefix(f"{PERSON}/") if subject.startswith(f"{PERSON}/") else None
