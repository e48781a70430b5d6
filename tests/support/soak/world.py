"""What the clients of a tenant know together: what they have written, under which names, what they have forgotten."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from tests.support.soak.texts import thing_name

FIRST_BUDGET, BUDGET_STEP = 10_000, 37


@dataclass
class Thing:
    """A note (`is_note`) or a turn. `resource` is its name in the API, known once its write was answered."""

    thing: str
    is_note: bool
    text: str
    resource: str = ""
    session: str = ""
    version: int = 0
    forgetting: bool = False
    """Somebody has begun to forget it."""
    forgotten: bool = False
    """That was answered."""

    @property
    def namespace(self) -> str:
        return self.thing.split("/")[1]


@dataclass
class World:
    """Shared by the threads of one tenant; `errors` counts what calls ended with, by method and class."""

    tenant: str
    things: dict[str, Thing] = field(default_factory=dict)
    receipts: dict[str, list[str]] = field(default_factory=dict)
    """Of forgets without a grace period: the things that each erases."""
    sessions: set[tuple[str, str]] = field(default_factory=set)
    errors: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _made: int = 0
    _budgets: int = FIRST_BUDGET

    def new_name(self, namespace: str) -> str:
        """Return the full name of a thing that nobody has used."""
        with self.lock:
            self._made += 1
            return f"{self.tenant}/{namespace}/{thing_name(self._made)}"

    def new_budget(self) -> int:
        with self.lock:
            self._budgets += BUDGET_STEP
            return self._budgets

    def known(self, namespace: str, *, notes: bool, session: str | None = None) -> list[Thing]:
        """Return what was answered and not yet forgotten: what a whole list has to hold."""
        with self.lock:
            return [
                one
                for one in self.things.values()
                if one.is_note is notes
                and one.namespace == namespace
                and not one.forgotten
                and session in (None, one.session)
            ]

    def pick(self, chance: random.Random, namespace: str, *, notes: bool) -> Thing | None:
        """Return something that nobody is forgetting."""
        some = [one for one in self.known(namespace, notes=notes) if not one.forgetting]
        return chance.choice(some) if some else None

    def any_resource(self, chance: random.Random) -> str:
        """Return the name of any note, forgotten or not, for those who must not read it."""
        with self.lock:
            some = [one.resource for one in self.things.values() if one.is_note]
        return chance.choice(some) if some else ""
