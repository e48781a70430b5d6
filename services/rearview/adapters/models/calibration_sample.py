"""The bilingual text on which models are calibrated."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from typing import Any, Literal

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
    """Passages, and the pairs of them that calibration compares (within one language).

    Attributes:
        passages: what the means are taken over.
        contrasts: texts built like a statement of the passages, by the same numbers, that say something else.
        dialogues: talks of one topic and language each, turn by turn.
    """

    passages: tuple[Passage, ...]
    contrasts: tuple[Passage, ...] = ()
    dialogues: tuple[tuple[Passage, ...], ...] = ()

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

    def other_language(self, *, same: bool) -> Pairs:
        """Return pairs (Chinese, English) of one topic: those that say the same, or those that do not."""
        return tuple(
            (i, j)
            for i in self.positions("zh")
            for j in self.positions("en")
            if self.passages[i].topic == self.passages[j].topic
            and (self.passages[i].statement == self.passages[j].statement) is same
        )

    def contrasting(self, language: Language, contrast_language: Language | None = None) -> Pairs:
        """Return pairs (a passage, a contrast to it), by their positions in each; of one language unless told."""
        return tuple(
            (i, j)
            for j, contrast in enumerate(self.contrasts)
            for i in self.positions(language)
            if contrast.language == (contrast_language or language) and self.passages[i].statement == contrast.statement
        )

    def _pairs(self, language: Language, wanted: Callable[[Passage, Passage], bool]) -> Pairs:
        return tuple(
            (i, j) for i, j in combinations(self.positions(language), 2) if wanted(self.passages[i], self.passages[j])
        )


def load_sample() -> CalibrationSample:
    """Return the sample shipped with the package."""
    passages: list[Passage] = []
    contrasts: list[Passage] = []
    for entry in _read("sample.yaml"):
        topic = entry["topic"]
        for language in LANGUAGES:
            for number, statement in enumerate(entry["aligned"]):
                passages.append(Passage(statement[language], topic, language, f"{topic}/{number}"))
            passages.append(Passage(entry["paraphrase"][language], topic, language, f"{topic}/0"))
            contrasts.append(Passage(entry["contrast"][language], topic, language, f"{topic}/0"))
            for number, text_alone in enumerate(entry[language]):
                passages.append(Passage(text_alone, topic, language, f"{topic}/{language}{number}"))
    talks = _read("dialogues.yaml")
    dialogues = tuple(
        tuple(Passage(turn, f"{language}/{number}", language, "") for turn in talk)
        for language in LANGUAGES
        for number, talk in enumerate(talks[language])
    )
    return CalibrationSample(tuple(passages), tuple(contrasts), dialogues)


def _read(name: str) -> Any:
    text = files("rearview.adapters.models").joinpath(f"cards/{name}").read_text(encoding="utf-8")
    return yaml.safe_load(text)
