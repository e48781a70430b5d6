"""What attributes are called in a text that people read."""

from collections.abc import Mapping

from rearview.domain.text import Language
from rearview.language.facts.attributes import Attribute
from rearview.language.scripts import has_han


class AttributeLabels:
    """Names of attributes in either language, from a table of attributes."""

    def __init__(self, table: Mapping[str, Attribute]) -> None:
        self._chinese = {
            name: next((alias for alias in attribute.aliases if has_han(alias)), "")
            for name, attribute in table.items()
        }
        self._aliases = {name: attribute.aliases for name, attribute in table.items()}

    def label(self, attribute: str, language: Language) -> str:
        """Return what an attribute is called; its own name in words where the language has none for it."""
        chinese = self._chinese.get(attribute, "") if language is Language.ZH else ""
        return chinese or attribute.replace("_", " ")

    def is_named_in(self, attribute: str, text: str) -> bool:
        """Return whether a text calls the attribute by any of its names."""
        folded = text.casefold()
        return any(alias.casefold() in folded for alias in self._aliases.get(attribute, ()))
