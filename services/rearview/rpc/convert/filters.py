"""The filter that lists, recalls and forgets share."""

from rearview.domain.memory import MAX_ENTITIES, MemoryType, Origin
from rearview.domain.names import SessionName, parse_session
from rearview.domain.recall import MemoryFilter
from rearview.rpc.convert.requests import labels_from_proto, require_namespace
from rearview.rpc.convert.times import time_from_proto
from rearview.rpc.convert.violations import Violations
from rearview.v1 import recall_pb2

MAX_ENTITY_CHARACTERS = 200


def memory_filter_from_proto(message: recall_pb2.MemoryFilter, field: str, *, namespace: str = "") -> MemoryFilter:
    """Return the filter. Its session must be of `namespace`, where that is given.

    Raises:
        InvalidFields: with every bad field, by its path under `field`.
    """
    found = Violations()
    start = (
        time_from_proto(message.start_time, f"{field}.start_time", found) if message.HasField("start_time") else None
    )
    end = time_from_proto(message.end_time, f"{field}.end_time", found) if message.HasField("end_time") else None
    if start is not None and end is not None and end <= start:
        found.add(f"{field}.end_time", "must lie after start_time")
    if len(message.entities) > MAX_ENTITIES:
        found.add(f"{field}.entities", f"has {len(message.entities)} entries; at most {MAX_ENTITIES} are allowed")
    wanted = MemoryFilter(
        # An unset type says "any kind" by its documentation, so it restricts nothing.
        types=frozenset()
        if 0 in message.types
        else frozenset(
            found.member(MemoryType, kind, f"{field}.types[{index}]") for index, kind in enumerate(message.types)
        ),
        start=start,
        end=end,
        entities=tuple(
            found.text(text, f"{field}.entities[{index}]", max_characters=MAX_ENTITY_CHARACTERS, required=True)
            for index, text in enumerate(message.entities[:MAX_ENTITIES])
        ),
        session_id=_session_id(message.session, f"{field}.session", found, namespace) if message.session else "",
        labels=labels_from_proto(message.labels, f"{field}.labels", found),
        origins=frozenset(
            found.member(Origin, origin, f"{field}.origins[{index}]") for index, origin in enumerate(message.origins)
        ),
    )
    found.raise_if_any()
    return wanted


def _session_id(name: str, field: str, found: Violations, namespace: str) -> str:
    session = found.attempt(SessionName(namespace, ""), parse_session, name, field)
    require_namespace(session.namespace, namespace, field, found)
    return session.session
