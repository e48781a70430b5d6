"""Plain Python values to what stands in messages. Everything wrong is InvalidFields, before anything is sent."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from rearview.client.call import Defaults
from rearview.domain.errors import invalid_field
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryType, Origin
from rearview.rpc.convert.structs import struct_to_proto
from rearview.rpc.convert.times import time_to_proto
from rearview.v1 import memory_pb2, recall_pb2


def namespace_name(defaults: Defaults, namespace: str | None) -> str:
    """Return `namespaces/{namespace}` of an id, a full name, or the default."""
    chosen = namespace or defaults.namespace
    return chosen if chosen.startswith("namespaces/") else f"namespaces/{chosen}"


def session_name(defaults: Defaults, session: str, namespace: str | None) -> str:
    """Return the full name of a session given by id or full name."""
    return session if session.startswith("namespaces/") else f"{namespace_name(defaults, namespace)}/sessions/{session}"


def optional_session_name(defaults: Defaults, session: str | None, namespace: str | None) -> str:
    """Return the full name of the session, or of the session helper's; empty when there is neither."""
    chosen = defaults.session if session is None else session
    return session_name(defaults, chosen, namespace) if chosen else ""


def memory_name(defaults: Defaults, memory: str | UUID, namespace: str | None) -> str:
    """Return the full name of a memory given by id or full name."""
    text = str(memory)
    return text if text.startswith("namespaces/") else f"{namespace_name(defaults, namespace)}/memories/{text}"


def resource_name(collection: str, resource: str | UUID) -> str:
    """Return `{collection}/{id}` of an id or a full name."""
    text = str(resource)
    return text if text.startswith(f"{collection}/") else f"{collection}/{text}"


def request_id_text(request_id: str | UUID | None) -> str:
    """Return the caller's request id, or a new one: with it the same request can be sent twice and happens once."""
    return str(new_id() if request_id is None else request_id)


def time_message(moment: datetime | None, field: str) -> Timestamp | None:
    """Return the timestamp; None for None. Raises: InvalidFields for a time without a zone."""
    if moment is None:
        return None
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise invalid_field(field, "must be an aware time, for example datetime.now(UTC)")
    return time_to_proto(moment)


def struct_message(tree: Mapping[str, Any] | None, field: str) -> Struct | None:
    """Return the message of JSON-like data; None for none. Raises: InvalidFields for what is not JSON."""
    if not tree:
        return None
    try:
        return struct_to_proto(tree)
    except (TypeError, ValueError, OverflowError) as error:
        raise invalid_field(field, "must be JSON-like: None, bool, numbers, str, lists, and dicts of them") from error


def number_of(kind: type[IntEnum], value: str | IntEnum, field: str) -> int:
    """Return the number of an enumeration's member, given itself or by name in any case. Raises: InvalidFields."""
    if isinstance(value, IntEnum):
        return int(value)
    try:
        return int(kind[value.upper()])
    except KeyError:
        known = ", ".join(member.name.lower() for member in kind if member.value)
        raise invalid_field(field, f"{value!r} is none of {known}") from None


def memory_filter(
    *,
    types: Iterable[str | MemoryType] = (),
    start: datetime | None = None,
    end: datetime | None = None,
    entities: Iterable[str] = (),
    session: str = "",
    labels: Mapping[str, str] | None = None,
    origins: Iterable[str | Origin] = (),
) -> recall_pb2.MemoryFilter:
    """Return a filter in which all given conditions must hold; `session` is a full name.

    Raises:
        InvalidFields: an unknown type or origin, or a time without a zone.
    """
    return recall_pb2.MemoryFilter(
        types=[memory_pb2.MemoryType.ValueType(number_of(MemoryType, kind, "types")) for kind in types],
        start_time=time_message(start, "start"),
        end_time=time_message(end, "end"),
        entities=entities,
        session=session,
        labels=labels or {},
        origins=[memory_pb2.Origin.ValueType(number_of(Origin, origin, "origins")) for origin in origins],
    )


@contextmanager
def encodable() -> Iterator[None]:
    """Turn what cannot be put into a message (lone surrogates, numbers out of range) into InvalidFields."""
    try:
        yield
    except (OverflowError, ValueError) as error:
        raise invalid_field("", f"a value cannot be sent: {type(error).__name__}") from error
