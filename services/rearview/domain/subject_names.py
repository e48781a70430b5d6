"""By what a person or thing is known."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SubjectNames:
    """By what a person or thing is known: the one canonical name, all spellings, and names that are words as well."""

    canonical: Callable[[str], str]
    spellings: Callable[[str], tuple[str, ...]]
    common: frozenset[str]
