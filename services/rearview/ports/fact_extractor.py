"""Reading of clear statements about the speaker out of a turn."""

from typing import Protocol

from rearview.domain.text import FactCandidate


class FactExtractor(Protocol):
    """Prefers silence to a guess; implementations never raise on text."""

    def extract_facts(self, text: str, role: str) -> tuple[FactCandidate, ...]:
        """Return what the speaker of a turn states about themself; nothing for roles other than people."""
        ...
