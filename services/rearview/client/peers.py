"""Exports of other memory platforms, as exports of Rearview: memories without vectors, which the server makes.

- mem0: what `get_all` of its Python SDK returns (mem0ai 1.x), `{"results": [...]}` or the list.
- Hindsight: what `GET /v1/default/banks/{bank}/memories/list` returns (HTTP API 0.8.1), `{"items": [...]}` or the list.

A file may hold one such answer, or several, one a line, as a loop over pages writes them.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import UUID

from rearview.domain.errors import InvalidFields, invalid_field
from rearview.domain.exchange.reading import read
from rearview.domain.exchange.records import EMPTY_CHECKSUM, End, Manifest, chained
from rearview.domain.exchange.writing import written

Peer: TypeAlias = Literal["mem0", "hindsight"]

MAX_FILE_BYTES = 256 * 1024 * 1024
"""A file is one JSON text, so it is read as a whole."""

_NAMED_ENTITY = re.compile(r"\s*([^()]+?)\s*(?:\(([A-Z_]+)\))?\s*(?:,|$)")
_ENTITY_TYPES = {
    "PERSON": "person",
    "ORGANIZATION": "organisation",
    "LOCATION": "place",
    "PLACE": "place",
    "PRODUCT": "product",
}


def convert(path: Path, peer: Peer, namespace: str, out: Path) -> None:
    """Write the export that a peer's file is. The same file gives the same ids whenever it is converted.

    Raises:
        InvalidFields: the file is not of this format, or one of its memories cannot be one; nothing was written.
        OSError: it cannot be read.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise invalid_field(path.name, f"is larger than {MAX_FILE_BYTES} bytes; export it in parts")
    content = path.read_bytes()
    lines = [_line(peer, where, item) for where, item in _items(path.name, peer, content)]
    export_id = UUID(bytes=hashlib.sha256(peer.encode() + content).digest()[:16], version=5)
    manifest = written(Manifest(export_id, datetime.now(UTC), namespace, memories=len(lines)))
    checksum = EMPTY_CHECKSUM
    with out.open("w", encoding="utf-8", newline="\n") as file:
        for line in (manifest, *lines):
            checksum = chained(checksum, line)
            file.write(f"{line}\n")
        file.write(f"{written(End(0, len(lines), checksum))}\n")


def _items(name: str, peer: Peer, content: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    key = {"mem0": "results", "hindsight": "items"}[peer]
    for number, page in enumerate(_pages(name, content), 1):
        found = page.get(key) if isinstance(page, dict) else page
        if not isinstance(found, list):
            raise invalid_field(f"{name}:{number}", f"is neither a list nor an object with a list {key}")
        for at, item in enumerate(found):
            where = f"{name}:{number}.{key}[{at}]"
            if not isinstance(item, dict):
                raise invalid_field(where, "is to be an object")
            yield where, item


def _pages(name: str, content: bytes) -> list[Any]:
    try:
        return [json.loads(content)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in content.splitlines() if line.strip()]
    except ValueError as error:
        raise invalid_field(name, "is neither JSON nor JSON Lines") from error


def _line(peer: Peer, where: str, item: Mapping[str, Any]) -> str:
    content = {name: value for name, value in _CONVERTERS[peer](item, where).items() if value not in (None, "", [], {})}
    given_id = str(item.get("id") or "")
    content |= {"kind": "memory", "id": str(_id(peer, given_id, where)), "trust": "derived"}
    line = json.dumps(content, ensure_ascii=False)
    try:
        return written(read(line))
    except InvalidFields as error:
        violation = error.violations[0]
        name = _NAMES[peer].get(violation.field, violation.field)
        raise invalid_field(f"{where}.{name}", violation.description) from error


def _mem0(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    labels = {name: str(item[name]) for name in ("user_id", "agent_id", "run_id", "app_id") if item.get(name)}
    created = _moment(item, ("created_at",), where)
    metadata = dict(item["metadata"]) if isinstance(item.get("metadata"), dict) else {}
    if item.get("categories"):
        metadata["categories"] = item["categories"]
    return {
        "content": item.get("memory"),
        "labels": labels,
        "metadata": metadata,
        "occurred_at": created,
        "created_at": created,
        "updated_at": _moment(item, ("updated_at", "created_at"), where),
        "expires_at": _moment(item, ("expiration_date",), where) if item.get("expiration_date") else None,
    }


def _hindsight(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    metadata = dict(item["metadata"]) if isinstance(item.get("metadata"), dict) else {}
    for name in ("context", "tags", "document_id", "chunk_id"):
        if item.get(name):
            metadata[name] = item[name]
    fact_type = item.get("fact_type") or item.get("type")
    said = _moment(item, ("mentioned_at", "date", "occurred_start"), where)
    return {
        "content": item.get("text"),
        "labels": {"fact_type": str(fact_type)} if fact_type else {},
        "metadata": metadata,
        "entities": _entities(item.get("entities")),
        "origin": "assistant" if fact_type == "experience" else "user",
        "occurred_at": _moment(item, ("occurred_start", "date", "mentioned_at"), where),
        "occurred_until": _moment(item, ("occurred_end",), where) if item.get("occurred_end") else None,
        "created_at": said,
        "updated_at": said,
    }


_CONVERTERS: Mapping[str, Callable[[Mapping[str, Any], str], dict[str, Any]]] = {
    "mem0": _mem0,
    "hindsight": _hindsight,
}
_NAMES: Mapping[str, Mapping[str, str]] = {"mem0": {"content": "memory"}, "hindsight": {"content": "text"}}


def _entities(given: Any) -> list[dict[str, str]]:
    if isinstance(given, str):
        named = [(text, _ENTITY_TYPES.get(kind, "other")) for text, kind in _NAMED_ENTITY.findall(given)]
        return [{"type": kind, "text": text} for text, kind in named]
    return [{"type": "other", "text": text} for text in given or () if isinstance(text, str) and text]


def _moment(item: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    name = next((name for name in names if item.get(name)), names[0])
    value = item.get(name)
    try:
        moment = datetime.fromisoformat(str(value))  # of a day alone, its beginning
    except ValueError as error:
        raise invalid_field(f"{where}.{name}", "is to be a time as in 2026-01-31T12:00:00Z") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _id(peer: Peer, given: str, where: str) -> UUID:
    if not given:
        raise invalid_field(f"{where}.id", "is required")
    try:
        return UUID(given)
    except ValueError:
        return UUID(bytes=hashlib.sha256(f"{peer}:{given}".encode()).digest()[:16], version=5)
