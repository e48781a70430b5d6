"""What every contender has to do, and what it is given; standard library only: every environment imports it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

MOST_ITEMS_A_CALL = 20
"""So many turns a client hands over at a time, to whoever takes several."""


@dataclass(frozen=True, slots=True)
class Item:
    """A turn, or a note, to be kept.

    Attributes:
        source_id: what a hit has to name.
        text: what was said.
        session: the conversation's part that it belongs to; "" for a note, which belongs to none.
        speaker: who said it, "" where nobody is named.
        said_at: ISO 8601 with a zone.
        caption: of an image that came with it.
        labels: what else is known of a note.
    """

    source_id: str
    text: str
    session: str = ""
    speaker: str = ""
    said_at: str = ""
    caption: str = ""
    labels: dict[str, str] = field(default_factory=dict)

    def plain(self) -> str:
        """Return it as one text, for contenders that know neither speakers nor images."""
        said = f"{self.speaker}: {self.text}" if self.speaker else self.text
        return f"{said} [image: {self.caption}]" if self.caption else said


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: a text, or the turns (role, text) of a dialogue so far, and when (ISO 8601, "" for now)."""

    text: str = ""
    dialogue: tuple[tuple[str, str], ...] = ()
    asked_at: str = ""

    def plain(self) -> str:
        """Return it as one text, for contenders that know no dialogues."""
        return self.text or "\n".join(text for _, text in self.dialogue)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a contender finds: a database of its own (URL), the embedding endpoint (base URL), a folder for files, and
    the running Rearview stack's endpoints file."""

    database_url: str
    embeddings_url: str
    folder: str
    endpoints_file: str

    @classmethod
    def read(cls, content: dict[str, Any]) -> "Surroundings":
        """Return what `dataclasses.asdict` made into JSON."""
        return cls(**content)


class Contender(Protocol):
    """A memory as its users call it. Calls come from several threads."""

    def __init__(self, surroundings: Surroundings) -> None:
        """Start whatever has to run."""

    def ingest(self, space: str, items: Sequence[Item]) -> None:
        """Keep the items of one session, in order, in a space that shares nothing with others."""

    def settle(self, space: str) -> None:
        """Return when all that was kept can be recalled."""

    def recall(self, space: str, query: Query, k: int) -> list[list[str]]:
        """Return the k best hits, best first, each as the source ids that it cites."""

    def close(self) -> None:
        """End whatever runs."""
