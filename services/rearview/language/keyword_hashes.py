"""Keyword tokens and speakers as the numbers by which the index knows them."""

from uuid import UUID

from rearview.domain.token_hash import token_hash
from rearview.language.aliases import normalised
from rearview.language.tokens import tokens
from rearview.language.translations import translated_tokens


class KeywordHashes:
    """The `KeywordHasher` port."""

    def keywords(self, namespace_id: UUID, text: str) -> tuple[int, ...]:
        """Return the hashes of a text's keyword tokens in order, repeats included."""
        return tuple(token_hash(namespace_id, token) for token in tokens(text))

    def translations(self, namespace_id: UUID, text: str) -> tuple[frozenset[int], ...]:
        """Return for each of a text's words the hashes of what it may be called in the other language, if anything."""
        return tuple(frozenset(token_hash(namespace_id, token) for token in found) for found in translated_tokens(text))

    def speaker(self, namespace_id: UUID, name: str) -> int:
        """Return the hash of a speaker's name, whatever its case and width; 0 for no name."""
        canonical = normalised(name)
        return token_hash(namespace_id, f"speaker:{canonical}") if canonical else 0
