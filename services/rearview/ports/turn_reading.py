"""Small readings of text that are cheap enough for the path of an acknowledgement."""

from collections.abc import Callable
from typing import TypeAlias

from rearview.domain.importance import TurnSignals
from rearview.domain.text import Language

ReadSignals: TypeAlias = Callable[[str], TurnSignals]
"""Returns the signals of importance of a turn by rules alone, without a model."""

Canonical: TypeAlias = Callable[[str], str]
"""Returns the form of a name that is shared across case, width, language and alias."""

Languages: TypeAlias = Callable[[str], frozenset[Language]]
"""Returns the languages of a text."""
