"""`rearview eval repetitions`: what a namespace knows is recognised, and nothing else is taken for it.

Every statement is a user's turn in a session of its own. First all statements are said; then contrasts, which differ
from them in what they say; then each again, in other words and in the other language. A turn counts as recognised when
it was linked to a memory of its statement, in whatever words, and as wrongly dropped when it was taken for a repetition
of anything else.

With MADial-Bench files, its statements are said in one language, which none may be lost by, and then in the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TypeAlias

import yaml

from rearview.client import Client, Turn
from rearview.domain.text import Language
from rearview.evaluation.ingest import append_session, fresh_namespace, wait_until_indexed
from rearview.evaluation.madial_files import Madial
from rearview.evaluation.progress import Steps
from rearview.v1 import event_pb2

_DROPPED = (event_pb2.CAPTURE_OUTCOME_MERGED, event_pb2.CAPTURE_OUTCOME_REDUNDANT)
_TUNING, _HELD_OUT = "tuning", "held_out"
_AGAIN = ("again", "again_freely", "other_language")

Key: TypeAlias = tuple[str, int]
"""How a statement is said, and its number."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A statement, what says it again, and what only looks like it."""

    number: int
    language: Language
    said: str
    again: tuple[str, str]
    other: str
    contrast: str


@dataclass(slots=True)
class Share:
    """How many of how many; `texts` tells which."""

    of: int = 0
    texts: list[str] = field(default_factory=list)

    def add(self, text: str, counts: bool) -> None:
        """Count one."""
        self.of += 1
        if counts:
            self.texts.append(text)

    def as_text(self) -> str:
        """Return `found/all`."""
        return f"{len(self.texts)}/{self.of}"


@dataclass(slots=True)
class Conversation:
    """A namespace in which statements are said, with the memories that each of them became, by its key."""

    client: Client
    namespace: str
    memories: dict[Key, frozenset[str]] = field(default_factory=dict)
    _sessions: int = 0

    def say(self, texts: Mapping[Key, str]) -> dict[Key, frozenset[str] | None]:
        """Have each said by the user; return which memories it repeats, by key, None for what is new (or small talk).
        What is new is known by its key from then on, unless the key is known already."""
        events: dict[Key, str] = {}
        for key, text in texts.items():
            self._sessions += 1
            session = f"said-{self._sessions}"
            events[key] = append_session(self.client, self.namespace, session, [Turn("user", text)], lambda _: None)[0]
        wait_until_indexed(self.client, self.namespace, lambda _: None)
        repeats: dict[Key, frozenset[str] | None] = {}
        for key, event in events.items():
            trace = self.client.capture_trace(event)
            memories = frozenset(trace.memories)
            repeats[key] = memories if trace.outcome in _DROPPED else None
            if repeats[key] is None:
                self.memories.setdefault(key, memories)
        return repeats


def read_repeated() -> list[Repeated]:
    """Return the shipped statements."""
    content = yaml.safe_load((files("rearview.evaluation") / "data" / "repetitions.yaml").read_text(encoding="utf-8"))
    return [
        Repeated(at, Language(one["language"]), one["said"], tuple(one["again"]), one["other"], one["contrast"])
        for at, one in enumerate(content, start=1)
    ]


def evaluate_repetitions(client: Client, madial: Madial | None, steps: Steps) -> dict[str, object]:
    """Return counts by half and language of the statement: numbers 1 and 2 of every four are for tuning, 3 and 4 held
    out. The texts behind those that went wrong stand under `wrong`, of the tuning half only."""
    shares: dict[str, Share] = {}
    _shipped(Conversation(client, fresh_namespace(client, "eval-repetitions")), read_repeated(), shares, steps)
    if madial is not None:
        for first, second in ((Language.ZH, Language.EN), (Language.EN, Language.ZH)):
            _both_languages(client, madial, (first, second), shares, steps)
    wrong = {name: share.texts for name, share in shares.items() if name.startswith(f"{_TUNING}.") and "wrong" in name}
    return {**{name: share.as_text() for name, share in sorted(shares.items())}, "wrong": wrong}


def _shipped(talk: Conversation, repeated: Sequence[Repeated], shares: dict[str, Share], steps: Steps) -> None:
    passes: list[tuple[str, dict[Key, str]]] = [
        ("said", {("said", one.number): one.said for one in repeated}),
        ("contrast", {("contrast", one.number): one.contrast for one in repeated}),
        ("again", {("again", one.number): one.again[0] for one in repeated}),
        ("again_freely", {("again_freely", one.number): one.again[1] for one in repeated}),
        ("other_language", {("other_language", one.number): one.other for one in repeated}),
    ]
    languages = {one.number: one.language for one in repeated}
    done = steps.start("statements", len(passes))
    for name, texts in passes:
        repeats = talk.say(texts)
        done(1)
        for (kind, number), memories in repeats.items():
            place = f"{_half(number)}.{languages[number]}.{name}"
            own = memories is not None and any(
                memories & talk.memories.get((other, number), frozenset()) for other in ("said", *_AGAIN)
            )
            if kind in _AGAIN:
                shares.setdefault(f"{place}.recognised", Share()).add(texts[kind, number], own)
            lost = memories is not None and not (kind in _AGAIN and own)
            shares.setdefault(f"{place}.wrong", Share()).add(texts[kind, number], lost)


def _both_languages(
    client: Client, madial: Madial, languages: tuple[Language, Language], shares: dict[str, Share], steps: Steps
) -> None:
    first, second = (madial.statements[language] for language in languages)
    both = sorted(first.keys() & second.keys())
    talk = Conversation(client, fresh_namespace(client, "eval-repetitions"))
    done = steps.start(f"MADial-Bench, {languages[0]} first", 2)
    for name, statements in (("first", first), ("other_language", second)):
        texts: dict[Key, str] = {(name, number): statements[number].text for number in both}
        repeats = talk.say(texts)
        done(1)
        for (_, number), memories in repeats.items():
            place = f"{_half(number)}.madial.{languages[0]}.{name}"
            own = memories is not None and bool(memories & talk.memories.get(("first", number), frozenset()))
            if name == "other_language":
                shares.setdefault(f"{place}.recognised", Share()).add(texts[name, number], own)
            lost = memories is not None and not (name == "other_language" and own)
            shares.setdefault(f"{place}.wrong", Share()).add(texts[name, number], lost)


def _half(number: int) -> str:
    return _HELD_OUT if number % 4 in (0, 3) else _TUNING
