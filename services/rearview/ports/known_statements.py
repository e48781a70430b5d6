"""What a namespace knows already, for telling whether a turn says anything new."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.event import Event
from rearview.domain.memory import MemoryType
from rearview.domain.text import Language


@dataclass(frozen=True, slots=True, eq=False)
class AskedStatement:
    """A statement to look for: its bands, and its (d,) plain vector unless only the same words count."""

    plain: NDArray[np.float32] | None
    bands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KnownStatement:
    """A statement that is kept.

    Attributes:
        unit_id: its search unit: the event that said it first, or the memory itself where it has no turns.
        memory_id: the active memory that holds it.
        type: the memory's type.
        event: the turn, for a memory without turns one made of its content.
        languages: of the turn.
        cosine: of its smoothed search vector to what was asked; enough to propose it, not to decide.
    """

    unit_id: UUID
    memory_id: UUID
    type: MemoryType
    event: Event
    languages: frozenset[Language]
    cosine: float


class KnownStatements(Protocol):
    """Finds statements by vector and by signature."""

    async def candidates(
        self, tenant_id: UUID, namespace_id: UUID, asked: Sequence[AskedStatement], *, limit: int, now: datetime
    ) -> list[list[KnownStatement]]:
        """Return for each statement the few that may say the same: at most `limit` of each kind and language.

        Raises:
            Unavailable: the database cannot be reached.
        """
        ...
