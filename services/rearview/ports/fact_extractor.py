"""Reading of clear statements out of a turn."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from rearview.domain.fact import EarlierTurn, FactCandidate


class FactExtractor(Protocol):
    """Prefers silence to a guess; implementations never raise on text."""

    def extract_facts(
        self,
        text: str,
        role: str,
        *,
        reference: datetime | None = None,
        previous: Sequence[EarlierTurn] = (),
        tool: str = "",
    ) -> tuple[FactCandidate, ...]:
        """Return what a turn states, in order of place.

        Of turns of people: facts about the speaker and the persons they name. Of a tool's structured result: ids and
        states, untrusted. Of any other role: nothing.

        `reference` is the aware moment the turn was said, in the speaker's zone; without it plans have no dates.
        `previous` are the few turns before it, oldest first: corrections, confirmations and bare answers need them.
        `tool` is the name of the tool whose result the text is.
        """
        ...
