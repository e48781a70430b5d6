"""Opens the configured fact source; the one place that knows every kind."""

from dataclasses import dataclass
from typing import Literal

from rearview.adapters.extraction.preferred_fact_source import BatchLimits, Policy, PreferredFactSource
from rearview.adapters.llm.llm_fact_source import LlmFactSource
from rearview.adapters.llm.settings import LlmSettings
from rearview.domain.embedding_errors import InvalidModelInput
from rearview.ports.clock import Clock
from rearview.ports.fact_grounds import FactGrounds
from rearview.ports.fact_source import FactSource

FactSourceKind = Literal["none", "openai"]


@dataclass(frozen=True, slots=True)
class FactSourceSettings:
    """Which source of facts to open.

    Attributes:
        kind: "none" is without a model: the rules read; "openai" asks an OpenAI-compatible endpoint first.
        llm: the endpoint, for "openai".
        policy: when the model gives no reading, "fall_back" takes that of the rules and notes it; "strict" fails, so
            that a job is tried again later.
    """

    kind: FactSourceKind = "none"
    llm: LlmSettings | None = None
    policy: Policy = "fall_back"


def open_fact_source(
    settings: FactSourceSettings, *, rules: FactSource, grounds: FactGrounds, clock: Clock
) -> FactSource:
    """Return the configured source. Close it when done; it closes `rules` too.

    Raises:
        InvalidModelInput: a setting is missing or unusable.
    """
    if settings.kind == "none":
        return rules
    if settings.kind != "openai":
        raise InvalidModelInput("kind", f"unknown fact source kind {settings.kind!r}")
    if settings.llm is None:
        raise InvalidModelInput("llm", "is required for kind 'openai'")
    if settings.policy not in ("fall_back", "strict"):
        raise InvalidModelInput("policy", f"unknown policy {settings.policy!r}")
    limits = BatchLimits(settings.llm.max_turns, settings.llm.max_turn_characters, settings.llm.max_request_characters)
    return PreferredFactSource(LlmFactSource(settings.llm, grounds, clock), rules, settings.policy, limits)
