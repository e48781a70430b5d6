"""What attributes are called."""

from typing import Protocol

from rearview.domain.text import Language


class AttributeNames(Protocol):
    """Never raises; an attribute that is not known is called by its own name."""

    def label(self, attribute: str, language: Language) -> str:
        """Return what an attribute is called in a language."""
        ...

    def is_named_in(self, attribute: str, text: str) -> bool:
        """Return whether a text calls the attribute by any of its names."""
        ...
