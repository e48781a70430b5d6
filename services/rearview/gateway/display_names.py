"""Names for people, of namespaces and tenants: free text, and so redacted like any other."""

from rearview.domain.text import PiiCategory
from rearview.ports.redactor import Redactor

CATEGORIES = frozenset(PiiCategory)


class DisplayNames:
    """Makes names for people fit to be stored."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def stored(self, name: str) -> str:
        """Return the name with personal data replaced by placeholders."""
        return self._redactor.redact(name, CATEGORIES).text

    def changed(self, name: str | None) -> str | None:
        """Return the new name, redacted; None for one that stays."""
        return None if name is None else self.stored(name)
