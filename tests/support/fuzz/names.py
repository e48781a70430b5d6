"""Resource names that exist, and where they belong."""

from __future__ import annotations

from random import Random
from uuid import UUID

from google.protobuf.descriptor import FieldDescriptor

from rearview.client import Client, Turn
from rearview.domain.ids import new_id
from tests.support.client_steps import indexed, namespace_of
from tests.support.fuzz.texts import odd_text, put_into

_MILLISECONDS = 1_780_000_000_000


class Names:
    """The names of a namespace of its own, with something of everything in it."""

    def __init__(self, client: Client) -> None:
        self.namespace = f"namespaces/{namespace_of(client)}"
        self.session = f"{self.namespace}/sessions/s"
        self.event = client.append_events("s", [Turn("user", "我的预算是八千。 My budget is 8,000.")]).events[0].name
        client.end_session("s")
        indexed(client)
        self.memory = client.remember("The window faces south. 窗户朝南。").memory.name
        gone = client.remember("to be forgotten").memory
        self.receipt = client.forget(memories=[gone.name]).name
        self.trace = client.recall("预算").trace
        self.exact = [self.namespace, self.session, self.event, self.memory, gone.name, self.receipt, self.trace]
        self.exact += [f"{self.namespace}/memories/{new_id()}", f"operations/{new_id()}", "apiKeys/abcdefgh", '"1"']

    def any(self, random: Random) -> str:
        """Return a name as it is, with something put in, or cut."""
        name = random.choice(self.exact)
        return name if random.random() < 0.4 else put_into(random, name, odd_text(random))

    def fitting(self, field: FieldDescriptor, random: Random) -> str:
        """Return the name that belongs into a field."""
        assert field.containing_type is not None
        owner = field.containing_type.name
        if field.name == "session" or owner in ("EndSessionRequest", "GetWorkingMemoryRequest"):
            return self.session
        if field.name == "parent":
            return self.session if owner in ("AppendEventsRequest", "ListEventsRequest") else self.namespace
        by_owner = {
            "Event": f"{self.session}/events/{an_id(random)}",
            "GetCaptureTraceRequest": self.event,
            "GetRecallTraceRequest": self.trace,
            "GetForgetReceiptRequest": self.receipt,
            "RestoreRequest": self.receipt,
            "Memory": self.memory,
            "MemoryNames": self.memory,
            "RehydrateRequest": self.memory,
        }
        if owner in by_owner:
            return by_owner[owner]
        return self.memory if "Memory" in owner or "Supersession" in owner else self.namespace


def an_id(random: Random) -> str:
    """Return a UUIDv7; one in five is of a few that come again and again, with whatever else is sent."""
    last = random.randrange(8) if random.random() < 0.2 else random.getrandbits(62)
    return str(UUID(int=_MILLISECONDS << 80 | 0x7 << 76 | 0x2 << 62 | last))
