"""Where a scenario plays: namespaces and actors of its own, and names for what came of its steps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

from rearview.client import Client
from rearview.domain.errors import InvalidRequest
from rearview.domain.ids import new_id
from rearview.evaluation.ingest import fresh_namespace
from rearview.evaluation.scenarios.scenario import OWNER, ActorKind, Scenario

T = TypeVar("T")

OpenClient = Callable[[str], Client]
"""Returns a client that calls with a key."""


@dataclass(frozen=True, slots=True)
class Theatre:
    """What all scenarios share: the tenant's admin, the operator, and how to call with another key."""

    admin: Client
    operator: Client
    open: OpenClient


@dataclass(slots=True)
class Stage:
    """One scenario's; close it to close the actors' connections. Nothing is shared with another scenario."""

    theatre: Theatre
    scenario: Scenario
    memories: dict[str, str] = field(default_factory=dict)
    receipts: dict[str, str] = field(default_factory=dict)
    traces: dict[str, str] = field(default_factory=dict)
    exports: dict[str, list[str]] = field(default_factory=dict)
    _request_ids: dict[str, str] = field(default_factory=dict)
    _clients: dict[str, Client] = field(default_factory=dict)
    _principals: dict[str, str] = field(default_factory=dict)
    _namespaces: dict[str, str] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def client(self, actor: str) -> Client:
        """Return the client of an actor, made on first use."""
        if actor == OWNER:
            return self.theatre.admin
        if actor not in self._clients:
            key = self._key(actor, self.scenario.actors[actor])
            self._clients[actor] = self._open.enter_context(self.theatre.open(key))
        return self._clients[actor]

    def principal(self, actor: str) -> str:
        """Return what grants call an actor."""
        self.client(actor)
        return self._principals[actor]

    def namespace(self, name: str) -> str:
        """Return the id of the scenario's namespace of that name, created on first use."""
        if name not in self._namespaces:
            namespace = fresh_namespace(self.keeper(name), "scenario")
            if name in self.scenario.public_namespaces:
                self.theatre.admin.update_namespace(namespace, public=True)
            self._namespaces[name] = namespace
        return self._namespaces[name]

    def keeper(self, namespace: str) -> Client:
        """Return the client of whoever the scenario's namespace of that name belongs to."""
        return self.client(self.scenario.owned_namespaces.get(namespace, OWNER))

    def memory(self, name: str) -> str:
        """Return the full name of a memory that an earlier step named.

        Raises:
            InvalidRequest: none did.
        """
        return _named(name, self.memories, "memory")

    def request_id(self, name: str | None) -> str | None:
        """Return the request id of that name, this scenario's own; a new one for each call that names none."""
        return None if name is None else self._request_ids.setdefault(name, str(new_id()))

    def receipt(self, name: str) -> str:
        """Return the name of a forget's receipt. Raises: InvalidRequest: no earlier forget has that name."""
        return _named(name, self.receipts, "forget")

    def trace(self, name: str) -> str:
        """Return the name of a recall's trace. Raises: InvalidRequest: no earlier recall has that name."""
        return _named(name, self.traces, "recall")

    def export(self, name: str) -> list[str]:
        """Return the lines of an export. Raises: InvalidRequest: no earlier export has that name."""
        return _named(name, self.exports, "export")

    def _key(self, actor: str, kind: ActorKind) -> str:
        unique = f"{actor}-{new_id().hex[-12:]}"
        self._principals[actor] = unique
        if kind == "keyless":
            return f"rv_{unique}"
        if kind == "outsider":
            return self.theatre.operator.create_tenant(unique).secret
        role = "read" if kind == "reader" else "write"
        return self.theatre.admin.create_api_key(unique, role).secret


def _named(name: str, found: dict[str, T], kind: str) -> T:
    if name not in found:
        raise InvalidRequest(f"no earlier step named the {kind} {name!r}")
    return found[name]
