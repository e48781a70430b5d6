"""Keywords as numbers: the index holds hashes, keyed by namespace, and never the words."""

from typing import Protocol
from uuid import UUID


class KeywordHasher(Protocol):
    """Hashes lie in [1, 999_999_999] and differ between namespaces."""

    def keywords(self, namespace_id: UUID, text: str) -> tuple[int, ...]:
        """Return the hashes of a text's keyword tokens in order, repeats included."""
        ...

    def translations(self, namespace_id: UUID, text: str) -> tuple[frozenset[int], ...]:
        """Return for each of a text's words the hashes of what it may be called in the other language, if anything."""
        ...

    def speaker(self, namespace_id: UUID, name: str) -> int:
        """Return the hash of a speaker's canonical name; 0 for no name."""
        ...
