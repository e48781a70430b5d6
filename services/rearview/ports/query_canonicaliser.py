"""Queries in canonical words."""

from typing import Protocol

from rearview.domain.canonical_query import CanonicalQuery


class QueryCanonicaliser(Protocol):
    """Takes a question's manner away. `version` changes with its rules: what was kept under another one is not used."""

    @property
    def version(self) -> str:
        """The version of its rules."""
        ...

    def canonical(self, text: str) -> CanonicalQuery:
        """Return a query in canonical words."""
        ...
