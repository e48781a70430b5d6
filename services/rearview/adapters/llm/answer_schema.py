"""The form of a model's answer, as JSON Schema for the endpoint and as a check for what comes back."""

from collections.abc import Collection, Mapping
from typing import Any

from rearview.domain.fact import Polarity, Stance
from rearview.domain.text import EntityType, Intent

_STANCES = tuple(stance for stance in Stance if stance is not Stance.NEGATION)
"""What a model is asked to tell apart; a negation is a denied polarity to it."""


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    # Strict modes want every property required and no others.
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def fact_schema(attributes: Collection[str]) -> dict[str, Any]:
    """Return the form of one fact."""
    return _object(
        {
            "quote": {"type": "string"},
            "about": {"type": "string"},
            "topic": {"type": ["string", "null"]},
            "attribute": {"type": "string", "enum": sorted(attributes)},
            "value": {"type": ["string", "null"]},
            "polarity": {"type": "string", "enum": [*Polarity]},
            "stance": {"type": "string", "enum": [*_STANCES]},
        }
    )


ENTITY_SCHEMA = _object({"text": {"type": "string"}, "type": {"type": "string", "enum": [*EntityType]}})
"""The form of one entity."""


def turn_schema(attributes: Collection[str]) -> dict[str, Any]:
    """Return the form of what is said of one turn."""
    return _object(
        {
            "turn": {"type": "integer"},
            "intent": {"type": "string", "enum": [*Intent]},
            "valence": {"type": "number"},
            "intensity": {"type": "number"},
            "entities": {"type": "array", "items": ENTITY_SCHEMA},
            "facts": {"type": "array", "items": fact_schema(attributes)},
        }
    )


def answer_schema(attributes: Collection[str]) -> dict[str, Any]:
    """Return the form of a whole answer. It has no limits of length or number: strict modes refuse those keywords."""
    return _object({"turns": {"type": "array", "items": turn_schema(attributes)}})


def conforms(value: object, schema: Mapping[str, Any], *, deep: bool = True) -> bool:
    """Whether a JSON value has the form of a schema of this module; without `deep`, items of arrays are not looked at.

    Properties beyond those of the schema are let pass: not every endpoint can be held to it, and nobody reads them.
    """
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(_is(value, name) for name in allowed):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, dict):
        return all(
            name in value and conforms(value[name], form, deep=deep) for name, form in schema["properties"].items()
        )
    if isinstance(value, list) and deep:
        return all(conforms(item, schema["items"]) for item in value)
    return True


def _is(value: object, name: str) -> bool:
    match name:
        case "string":
            return isinstance(value, str)
        case "integer":
            return type(value) is int
        case "number":
            return type(value) in (int, float)
        case "null":
            return value is None
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
    return False
