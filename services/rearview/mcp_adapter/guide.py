"""The agent guide: when to search, when to store, and when not to call memory. Text and rules are of one source."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Any

import yaml

LANGUAGES = ("zh", "en")
GAP_CHARACTERS = 24

_HEADINGS = {
    "zh": "记忆使用指南（按顺序，第一条符合的生效）",
    "en": "Guide to using memory (in order; the first rule that fits decides)",
}
_WORDS = {"zh": ("触发词", "例如", "、"), "en": ("Trigger words", "For example", ", ")}
_ASKS = {
    "zh": "只对提问：以问号结尾，或含有 {words}",
    "en": "Only for questions: they end in a question mark, or have {words}",
}


class Action(StrEnum):
    """What the guide tells an agent to do about an utterance."""

    NONE = "none"
    SEARCH = "search"
    WRITE = "write"
    UPDATE = "update"
    FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Rule:
    """One section of the guide. Without phrases it holds for every utterance that gets this far."""

    action: Action
    only_if_asked: bool
    title: Mapping[str, str]
    when: Mapping[str, str]
    phrases: Mapping[str, Sequence[str]]
    examples: Mapping[str, Sequence[str]]
    pattern: re.Pattern[str] | None

    def holds(self, folded: str, *, asks: bool) -> bool:
        """True if the rule decides about this utterance."""
        if self.only_if_asked and not asks:
            return False
        return self.pattern is None or self.pattern.search(folded) is not None


class Guide:
    """The guide as text for agents, and as rules that can be checked."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        """Take the content of `data/guide.yaml`."""
        self._asking: Mapping[str, Sequence[str]] = content["asking"]
        self._closing: Mapping[str, str] = content["closing"]
        self._asks = _pattern(self._asking)
        self.rules = tuple(_rule(entry) for entry in content["rules"])

    @classmethod
    def load(cls) -> "Guide":
        """Return the guide that ships with the adapter."""
        return cls(yaml.safe_load(files("rearview.mcp_adapter").joinpath("data/guide.yaml").read_text("utf-8")))

    def decide(self, utterance: str) -> Action:
        """Return what to do about what a user said."""
        folded = _folded(utterance)
        asks = folded.endswith("?") or (self._asks is not None and self._asks.search(folded) is not None)
        return next(rule.action for rule in self.rules if rule.holds(folded, asks=asks))

    def text(self, language: str) -> str:
        """Return the guide in `zh` or `en`."""
        lines = [f"# {_HEADINGS[language]}", ""]
        for number, rule in enumerate(self.rules, 1):
            lines += [f"## {number}. {rule.title[language]}", "", *self._section(rule, language), ""]
        return "\n".join([*lines, self._closing[language].strip(), ""])

    def instructions(self) -> str:
        """Return what every client is told when it connects: the gist of both languages, and where the guide is."""
        gist = [
            f"{rule.title[language]} - {rule.when[language]}" for language in ("en", "zh") for rule in self.rules[:-1]
        ]
        closing = [self._closing[language].strip() for language in ("en", "zh")]
        return "\n".join([*gist, *closing, "Full guide: prompts memory_guide_en, memory_guide_zh."])

    def _section(self, rule: Rule, language: str) -> list[str]:
        triggers, examples, comma = _WORDS[language]
        lines = [rule.when[language]]
        if rule.only_if_asked:
            lines.append(_ASKS[language].format(words=comma.join(self._asking[language])))
        if rule.phrases[language]:
            lines.append(f"{triggers}: {comma.join(rule.phrases[language])}")
        lines.append(f"{examples}: {' / '.join(rule.examples[language])}")
        return lines


def _rule(entry: Mapping[str, Any]) -> Rule:
    return Rule(
        action=Action(entry["action"]),
        only_if_asked=entry.get("only_if") == "asks",
        title=entry["title"],
        when=entry["when"],
        phrases=entry["phrases"],
        examples=entry["examples"],
        pattern=_pattern(entry["phrases"]),
    )


def _pattern(phrases: Mapping[str, Sequence[str]]) -> re.Pattern[str] | None:
    """Return what finds any of the phrases: Chinese ones anywhere, English ones as whole words."""
    gap = f"[^.!?。！？]{{0,{GAP_CHARACTERS}}}?"
    parts = []
    for language in LANGUAGES:
        edge = r"(?<![a-z0-9])", r"(?![a-z0-9])"
        for phrase in phrases[language]:
            body = gap.join(re.escape(part.strip()) if part.strip() else "" for part in _folded(phrase).split("…"))
            parts.append(body if language == "zh" else f"{edge[0]}{body}{edge[1]}")
    return re.compile("|".join(parts)) if parts else None


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text.casefold().replace("’", "'").replace("？", "?").replace("！", "!")).strip()
