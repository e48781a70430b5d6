"""The numbers of placeholders in a session, for texts that are numbered before they are stored."""

from collections.abc import Sequence
from typing import Protocol

from rearview.domain.principal import Scope
from rearview.domain.redaction import Numbers, PlaceholderKey


class PlaceholderNumbers(Protocol):
    """Gives each value of a session its number; whoever comes at the same time gets the same."""

    async def number(self, scope: Scope, session_id: str, keys: Sequence[PlaceholderKey]) -> Numbers:
        """Return the numbers of values, new ones for those not seen before; nothing where there is no such session.

        Raises:
            Unavailable: the store does not answer.
        """
        ...
