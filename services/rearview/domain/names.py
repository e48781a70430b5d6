"""Resource names (AIP-122): parsing refuses what does not belong, formatting is its inverse."""

import re
from dataclasses import dataclass
from uuid import UUID

from rearview.domain.errors import InvalidFields, invalid_field

NAMESPACE_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
PRINCIPAL_ID = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}", re.ASCII)
SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
_LONGEST_NAME = 512


@dataclass(frozen=True, slots=True)
class NamespaceName:
    """`namespaces/{namespace}`."""

    namespace: str

    def __str__(self) -> str:
        return f"namespaces/{self.namespace}"


@dataclass(frozen=True, slots=True)
class SessionName:
    """`namespaces/{namespace}/sessions/{session}`."""

    namespace: str
    session: str

    def __str__(self) -> str:
        return f"namespaces/{self.namespace}/sessions/{self.session}"


@dataclass(frozen=True, slots=True)
class EventName:
    """`namespaces/{namespace}/sessions/{session}/events/{event}`."""

    namespace: str
    session: str
    event: UUID

    def __str__(self) -> str:
        return f"namespaces/{self.namespace}/sessions/{self.session}/events/{self.event}"


@dataclass(frozen=True, slots=True)
class MemoryName:
    """`namespaces/{namespace}/memories/{memory}`."""

    namespace: str
    memory: UUID

    def __str__(self) -> str:
        return f"namespaces/{self.namespace}/memories/{self.memory}"


def parse_namespace(name: str, field: str) -> NamespaceName:
    """Raises: InvalidFields."""
    parts = _split(name, field, "namespaces/{namespace}")
    return NamespaceName(_namespace_id(parts[0], field))


def parse_session(name: str, field: str) -> SessionName:
    """Raises: InvalidFields."""
    parts = _split(name, field, "namespaces/{namespace}/sessions/{session}")
    return SessionName(_namespace_id(parts[0], field), _session_id(parts[1], field))


def parse_event(name: str, field: str) -> EventName:
    """Raises: InvalidFields."""
    parts = _split(name, field, "namespaces/{namespace}/sessions/{session}/events/{event}")
    return EventName(_namespace_id(parts[0], field), _session_id(parts[1], field), parse_uuid(parts[2], field))


def parse_memory(name: str, field: str) -> MemoryName:
    """Raises: InvalidFields."""
    parts = _split(name, field, "namespaces/{namespace}/memories/{memory}")
    return MemoryName(_namespace_id(parts[0], field), parse_uuid(parts[1], field))


def parse_identified(name: str, collection: str, field: str) -> UUID:
    """Return the UUID of a name such as `recallTraces/{uuid}`. Raises: InvalidFields."""
    return parse_uuid(_split(name, field, f"{collection}/{{id}}")[0], field)


def parse_named(name: str, collection: str, field: str) -> str:
    """Return the id of a name such as `tenants/{tenant}`, of the namespaces' alphabet. Raises: InvalidFields."""
    return _namespace_id(_split(name, field, f"{collection}/{{id}}")[0], field)


def parse_uuid(text: str, field: str) -> UUID:
    """Return the UUID, which must stand in its canonical lower-case form. Raises: InvalidFields."""
    if not _UUID.fullmatch(text):
        raise invalid_field(field, "must be a UUID in lower case, for example 01890a5d-ac96-774b-bcce-b302099a8057")
    return UUID(text)


def _namespace_id(text: str, field: str) -> str:
    if not NAMESPACE_ID.fullmatch(text):
        raise invalid_field(field, "ids here are 1 to 63 of a-z, 0-9, _ and -, and begin with a letter or digit")
    return text


def _session_id(text: str, field: str) -> str:
    if not SESSION_ID.fullmatch(text):
        raise invalid_field(
            field, "session ids are 1 to 128 of A-Z, a-z, 0-9 and _.:@-, and begin with a letter or digit"
        )
    return text


def _split(name: str, field: str, pattern: str) -> list[str]:
    wanted = pattern.split("/")
    if not name:
        raise _not_of_pattern(field, pattern, "is required")
    found = name.split("/") if len(name) <= _LONGEST_NAME else []
    if len(found) != len(wanted) or any(w != f for w, f in zip(wanted[::2], found[::2], strict=True)):
        raise _not_of_pattern(field, pattern, "has another form")
    return found[1::2]


def _not_of_pattern(field: str, pattern: str, problem: str) -> InvalidFields:
    return invalid_field(field, f"{problem}; expected {pattern}")
