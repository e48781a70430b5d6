"""What clients did and saw, and when: the only thing that the checker knows of a run."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class Action(StrEnum):
    """What an operation did to one object, or saw of it."""

    CREATE = "create"
    UPDATE = "update"
    SET = "set"
    FORGET = "forget"
    SEE = "see"
    MISS = "miss"

    @property
    def reads(self) -> bool:
        return self in (Action.SEE, Action.MISS)


class Effect(NamedTuple):
    """`thing` is `tenant/namespace/name`; `version` counts the contents that it was given."""

    thing: str
    action: Action
    version: int = 0


@dataclass(frozen=True, slots=True)
class Operation:
    """A call from its first attempt to its last answer, in seconds since the run began. One whose outcome nobody knows
    has no end: it may have taken effect at any time since, or never. Reads without an answer are not recorded."""

    number: int
    client: str
    method: str
    reach: tuple[str, ...]
    """The namespaces, `tenant/namespace`, of which it may have told."""
    begun: float
    ended: float | None
    effects: tuple[Effect, ...]
    request_id: str = ""

    def __str__(self) -> str:
        end = "unknown" if self.ended is None else f"{self.ended:9.3f}"
        return f"#{self.number:<6} {self.client:<4} {self.begun:9.3f} .. {end:>9}  {self.method}"


@dataclass
class History:
    """Takes down operations, from any thread."""

    operations: list[Operation] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> float:
        """Return the seconds since the run began."""
        return time.monotonic() - self._began

    def add(
        self,
        client: str,
        method: str,
        reach: Iterable[str],
        begun: float,
        ended: float | None,
        effects: Iterable[Effect],
        request_id: str = "",
    ) -> None:
        """Record an operation."""
        with self._lock:
            number = len(self.operations) + 1
            self.operations.append(
                Operation(number, client, method, tuple(reach), begun, ended, tuple(effects), request_id)
            )

    def write(self, file: Path) -> None:
        """Write one operation a line, as JSON."""
        with file.open("w", encoding="utf-8") as out:
            out.writelines(f"{json.dumps(asdict(operation))}\n" for operation in self.operations)
