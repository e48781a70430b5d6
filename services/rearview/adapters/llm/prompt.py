"""What a model is told: rules in the turns' language, and the turns as data between marks."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files

from rearview.domain.extraction import ExtractionRequest, TurnToRead
from rearview.domain.text import EntityType, Intent, Language

OPENING, CLOSING = "<transcript>", "</transcript>"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages for a chat endpoint. `version` changes with any word of the rules and with the attributes."""

    messages: tuple[Mapping[str, str], ...]
    version: str

    @property
    def most_tokens(self) -> int:
        """An upper estimate of its tokens: one for three bytes, so one for a Chinese character."""
        return sum(len(message["content"].encode()) for message in self.messages) // 3 + 16


def build_prompt(request: ExtractionRequest, attributes: Collection[str]) -> Prompt:
    """Return the prompt; turns are numbered from 1 on, earlier ones first.

    The rules are in Chinese when Chinese is spoken in at least half of the turns to read, else in English.
    """
    language = _language(request.turns)
    rules = _rules(language, tuple(sorted(attributes)))
    version = f"turns-{language}-{blake2b(rules.encode(), digest_size=4).hexdigest()}"
    numbered = [_turn(number, turn, read=number > len(request.earlier)) for number, turn in _numbered(request)]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in numbered)
    # No text can end the data: inside the marks there is no angle bracket but an escaped one.
    data = lines.replace("<", "\\u003c").replace(">", "\\u003e")
    return Prompt(
        (
            {"role": "system", "content": rules},
            {"role": "user", "content": f"{OPENING}\n[{data}]\n{CLOSING}"},
        ),
        version,
    )


def _numbered(request: ExtractionRequest) -> list[tuple[int, TurnToRead]]:
    return list(enumerate((*request.earlier, *request.turns), start=1))


def _language(turns: tuple[TurnToRead, ...]) -> Language:
    chinese = sum(Language.ZH in turn.languages for turn in turns)
    return Language.ZH if chinese * 2 >= len(turns) and chinese else Language.EN


def _turn(number: int, turn: TurnToRead, *, read: bool) -> Mapping[str, object]:
    return {
        "turn": number,
        "read": read,
        "role": turn.role.name.lower(),
        "speaker": _encodable(turn.speaker),
        "time": turn.occurred_at.isoformat(timespec="minutes"),
        "text": _encodable(turn.text),
    }


def _encodable(text: str) -> str:
    """The text with a question mark for what is no character, as lone surrogates are not."""
    return text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=16)
def _rules(language: Language, attributes: tuple[str, ...]) -> str:
    written = files("rearview.adapters.llm").joinpath("prompts", f"{language}.txt").read_text(encoding="utf-8")
    for name, choices in (("intents", [*Intent]), ("entity_types", [*EntityType]), ("attributes", attributes)):
        written = written.replace(f"{{{name}}}", ", ".join(choices))
    return written
