"""An item of a store as a memory: how it is named, found and read back."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import Item, SearchItem
from langgraph.store.base.embed import get_text_at_path

from rearview.client.exact_json import check_size, pack, plain, unpack
from rearview.domain.errors import invalid_field
from rearview.domain.event import MAX_CONTENT_CHARACTERS
from rearview.domain.memory import MAX_LABEL_VALUE_CHARACTERS, MAX_LABELS
from rearview.v1 import memory_pb2

WHOLE_VALUE = "$"

_STORE, _INDEXED, _DEPTH, _PART = "store", "store.indexed", "store.depth", "store.namespace."
_KEY, _TTL, _UPDATED = "key", "ttl_minutes", "updated_at"
_MAX_DEPTH = MAX_LABELS - 3

Namespace = tuple[str, ...]


def session_of(namespace: Namespace, key: str) -> str:
    """Return the session that is the item's own: what is remembered in it is never taken for another item or a note."""
    name = json.dumps([namespace, key]).encode()
    return f"langgraph:{hashlib.sha256(name).hexdigest()}"


def prefix_labels(prefix: Namespace, *, indexed: bool = False) -> dict[str, str]:
    """Return the labels of all items below a namespace, or of those of them that are searched by meaning."""
    parts = {f"{_PART}{place}": part for place, part in enumerate(prefix)}
    return {_STORE: "langgraph", **parts, **({_INDEXED: "yes"} if indexed else {})}


def labels_of(namespace: Namespace, *, indexed: bool) -> dict[str, str]:
    """Return an item's labels. Raises: InvalidFields: the namespace is too deep, or a part of it too long."""
    if len(namespace) > _MAX_DEPTH:
        raise invalid_field("namespace", f"has {len(namespace)} parts; at most {_MAX_DEPTH} are allowed")
    longest = max(map(len, namespace), default=0)
    if longest > MAX_LABEL_VALUE_CHARACTERS:
        raise invalid_field(
            "namespace", f"has a part of {longest} characters; at most {MAX_LABEL_VALUE_CHARACTERS} are allowed"
        )
    known = {_DEPTH: str(len(namespace)), _INDEXED: "yes" if indexed else "no"}
    return {**prefix_labels(namespace), **known}


def metadata_of(key: str, value: Mapping[str, Any], ttl_minutes: float | None, now: datetime) -> dict[str, Any]:
    """Return what is kept of an item beside its text. Raises: InvalidFields: the value is not JSON, or too large."""
    metadata = {**pack(value, "value"), _KEY: key, _UPDATED: now.isoformat()}
    if ttl_minutes is not None:
        metadata[_TTL] = ttl_minutes
    check_size(metadata, "value")
    return metadata


def namespace_of(memory: memory_pb2.Memory) -> Namespace:
    """Return the namespace of the item that a memory is."""
    return tuple(memory.labels[f"{_PART}{place}"] for place in range(int(memory.labels[_DEPTH])))


def key_of(memory: memory_pb2.Memory) -> str:
    """Return the key of the item that a memory is."""
    return memory.metadata.fields[_KEY].string_value


def ttl_of(memory: memory_pb2.Memory) -> timedelta | None:
    """Return how long the item lives after it was last used; None for ever."""
    minutes = memory.metadata.fields[_TTL].number_value if _TTL in memory.metadata.fields else None
    return None if minutes is None else timedelta(minutes=minutes)


def item_of(memory: memory_pb2.Memory) -> Item:
    """Return the item that a memory is."""
    return Item(**_fields(memory))


def found_item(memory: memory_pb2.Memory, score: float | None) -> SearchItem:
    """Return the item that a memory is, as a search found it."""
    return SearchItem(**_fields(memory), score=score)


def search_text(value: Mapping[str, Any], paths: Sequence[str]) -> str:
    """Return the text by which a value is found; empty where its paths lead to none."""
    texts = []
    for path in paths:
        texts += _lines(value, "") if path == WHOLE_VALUE else get_text_at_path(value, path)
    return "\n".join(text for text in texts if text.strip())[:MAX_CONTENT_CHARACTERS]


def _lines(node: Any, name: str) -> list[str]:
    """Return a value in words: a line for each of its texts and numbers, behind the key that it stands under."""
    if isinstance(node, Mapping):
        return [line for key, item in node.items() for line in _lines(item, str(key))]
    if isinstance(node, list | tuple):
        return [line for item in node for line in _lines(item, name)]
    if node is None or node == "":
        return []
    return [f"{name}: {node}" if name else str(node)]


def _fields(memory: memory_pb2.Memory) -> dict[str, Any]:
    created_at = memory.create_time.ToDatetime(UTC)
    return {
        "namespace": namespace_of(memory),
        "key": key_of(memory),
        "value": unpack(memory.metadata) or {},
        "created_at": created_at,
        # The clock is the writer's own, which may be behind the service's.
        "updated_at": max(created_at, datetime.fromisoformat(str(plain(memory.metadata)[_UPDATED]))),
    }
