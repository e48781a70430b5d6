"""The bilingual text on which models are calibrated."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from typing import Literal

import yaml

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of the sample.

    Attributes:
        text: the passage.
        topic: passages of one topic belong to one conversation.
        language: "zh" or "en".
        statement: passages of one statement mean the same, in either language.
    """

    text: str
    topic: str
    language: Language
    statement: str


Pairs = tuple[tuple[int, int], ...]
"""Pairs of positions in the sample."""


@dataclass(frozen=True, slots=True)
class CalibrationSample:
    """Passages, and the pairs of them that calibration compares (within one language)."""

    passages: tuple[Passage, ...]

    def texts(self) -> list[str]:
        """Return the passages' texts, in order."""
        return [passage.text for passage in self.passages]

    def positions(self, language: Language) -> list[int]:
        """Return where the passages of one language are."""
        return [position for position, passage in enumerate(self.passages) if passage.language == language]

    def same_statement(self, language: Language) -> Pairs:
        """Return the pairs that say the same in other words."""
        return self._pairs(language, lambda a, b: a.statement == b.statement)

    def same_topic(self, language: Language) -> Pairs:
        """Return the pairs about one topic that say different things."""
        return self._pairs(language, lambda a, b: a.topic == b.topic and a.statement != b.statement)

    def unrelated(self, language: Language) -> Pairs:
        """Return the pairs of different topics."""
        return self._pairs(language, lambda a, b: a.topic != b.topic)

    def translations(self) -> Pairs:
        """Return the aligned pairs (Chinese, English)."""
        first: dict[tuple[str, Language], int] = {}
        for position, passage in enumerate(self.passages):
            first.setdefault((passage.statement, passage.language), position)
        return tuple(
            (position, first[statement, "en"])
            for (statement, language), position in first.items()
            if language == "zh" and (statement, "en") in first
        )

    def _pairs(self, language: Language, wanted: Callable[[Passage, Passage], bool]) -> Pairs:
        return tuple(
            (i, j) for i, j in combinations(self.positions(language), 2) if wanted(self.passages[i], self.passages[j])
        )


def load_sample() -> CalibrationSample:
    """Return the sample shipped with the package."""
    text = files("rearview.adapters.models").joinpath("cards/sample.yaml").read_text(encoding="utf-8")
    passages: list[Passage] = []
    for entry in yaml.safe_load(text):
        topic = entry["topic"]
        for language in LANGUAGES:
            for number, statement in enumerate(entry["aligned"]):
                passages.append(Passage(statement[language], topic, language, f"{topic}/{number}"))
            passages.append(Passage(entry["paraphrase"][language], topic, language, f"{topic}/0"))
            for number, text_alone in enumerate(entry[language]):
                passages.append(Passage(text_alone, topic, language, f"{topic}/{language}{number}"))
    return CalibrationSample(tuple(passages))
