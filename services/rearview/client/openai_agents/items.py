"""Items of OpenAI's Responses API as turns, and back.

The text of an item is the text of its turn, so that it is searched and has the room of one; the rest of the item is
kept beside it, and both together are the item again.
"""

import json
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from rearview.client.exact_json import check_size, pack, plain, unpack
from rearview.client.turn import ToolCall, Turn
from rearview.domain.errors import invalid_field
from rearview.domain.event import MAX_CONTENT_CHARACTERS
from rearview.rpc.convert.events import MAX_CALL_ID_CHARACTERS, MAX_TOOL_NAME_CHARACTERS
from rearview.rpc.convert.structs import size_of
from rearview.v1 import event_pb2

_TEXT_AT = "text_at"
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_MESSAGES = {
    event_pb2.ROLE_USER: "user",
    event_pb2.ROLE_ASSISTANT: "assistant",
    event_pb2.ROLE_SYSTEM: "system",
}
_UNKNOWN_TOOL = "tool"

Path = tuple[str | int, ...]


def turn_of(item: Mapping[str, Any], field: str, called: MutableMapping[str, str]) -> Turn:
    """Return the turn that an item is. `called` holds the tools' names by their calls' ids and learns this item's.

    Raises:
        InvalidFields: it is not JSON, or its text or what remains of it is too large.
    """
    at, text = _text_of(item)
    if len(text) > MAX_CONTENT_CHARACTERS:
        raise invalid_field(field, f"has {len(text)} characters of text; at most {MAX_CONTENT_CHARACTERS} are allowed")
    metadata = pack(_without(item, at) if at else item, field)
    if at:
        metadata[_TEXT_AT] = list(at)
    check_size(metadata, field)
    kind, call_id = item.get("type", "message"), str(item.get("call_id") or "")[:MAX_CALL_ID_CHARACTERS]
    if kind == "function_call":
        called[call_id] = tool = str(item.get("name") or _UNKNOWN_TOOL)[:MAX_TOOL_NAME_CHARACTERS]
        return Turn("tool", tool_call=ToolCall(tool, "", _arguments(item), call_id), metadata=metadata)
    if kind == "function_call_output":
        tool = called.get(call_id, _UNKNOWN_TOOL)
        return Turn("tool", tool_call=ToolCall(tool, text, {}, call_id), metadata=metadata)
    # What is neither said nor the result of a tool (reasoning, searches of the provider) is kept, not remembered.
    role = _ROLES.get(str(item.get("role")), "system")
    return Turn(role, text if text.strip() else f"[{kind}]", metadata=metadata)


def item_of(event: event_pb2.Event) -> dict[str, Any] | None:
    """Return the item that a turn is; None for a turn that others appended and that is no message."""
    item = unpack(event.metadata)
    if item is None:
        role = _MESSAGES.get(event.role)
        return None if role is None or not event.content else {"role": role, "content": event.content}
    if at := plain(event.metadata).get(_TEXT_AT):
        parent: Any = item
        for step in at[:-1]:
            parent = parent[step]
        parent[at[-1]] = event.tool_call.result if event.HasField("tool_call") else event.content
    return item


def size_bytes(turn: Turn) -> int:
    """Return how much of an append's room a turn takes."""
    called = turn.tool_call
    texts = turn.content + (called.result if called else "")
    return size_of(turn.metadata) + size_of(called.arguments if called else {}) + len(texts.encode("utf-8", "replace"))


def _text_of(item: Mapping[str, Any]) -> tuple[Path, str]:
    """Return an item's text, and where it stands if it stands in one place and no turn would be without text."""
    texts: list[tuple[Path, str]] = []
    for name in ("content", "output"):
        told = item.get(name)
        if isinstance(told, str):
            texts.append(((name,), told))
        elif isinstance(told, Sequence):
            texts += [
                ((name, place, "text"), part["text"])
                for place, part in enumerate(told)
                if isinstance(part, Mapping) and isinstance(part.get("text"), str)
            ]
    whole = "\n".join(text for _, text in texts)
    return (texts[0][0] if len(texts) == 1 and whole.strip() else ()), whole


def _without(item: Mapping[str, Any], at: Path) -> dict[str, Any]:
    """Return a copy of an item with an empty text in one place."""
    name, *rest = at
    copy = dict(item)
    if not rest:
        copy[str(name)] = ""
        return copy
    parts = [dict(part) if isinstance(part, Mapping) else part for part in item[str(name)]]
    parts[int(rest[0])][str(rest[1])] = ""
    copy[str(name)] = parts
    return copy


def _arguments(item: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        arguments = json.loads(item.get("arguments") or "{}")
    except (TypeError, ValueError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
