"""What a namespace knows already, for telling whether a turn says anything new."""

from collections.abc import Callable, Sequence
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


Candidates = Sequence[Sequence[KnownStatement]]
"""For each statement asked for, those that may say the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What a judgement stands on that a statement is new; another may have been told the same at the same moment.

    Attributes:
        asked: the new statements.
        limit: how many candidates of each kind and language were looked at.
        writes: how often the namespace had been written to when they were looked for.
        doubted_by: says whether any of these candidates, found later, makes the judgement doubtful.
    """

    asked: tuple[AskedStatement, ...]
    limit: int
    writes: int
    doubted_by: Callable[[Candidates], bool]


class Doubted(Exception):
    """Others have written meanwhile what may say the same: nothing was written, and is to be judged anew."""


class KnownStatements(Protocol):
    """Finds statements by vector and by signature."""

    async def candidates(
        self, tenant_id: UUID, namespace_id: UUID, asked: Sequence[AskedStatement], *, limit: int, now: datetime
    ) -> tuple[Candidates, int]:
        """Return for each statement the few that may say the same, at most `limit` of each kind and language, and how
        often the namespace had been written to before they were looked for.

        Raises:
            Unavailable: the database cannot be reached.
        """
        ...
