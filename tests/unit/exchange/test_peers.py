"""Exports of peers become exports of Rearview, or are refused with the place that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rearview.client.export_file import checked_parts, lines_of
from rearview.client.peers import Peer, convert
from rearview.domain.errors import InvalidFields

MEMORY = {"id": "m-1", "memory": "小林 likes tea", "created_at": "2026-01-05T10:00:00Z"}
UNIT = {"id": "550e8400-e29b-41d4-a716-446655440000", "text": "Alice 去了北京", "date": "2026-01-05T10:00:00Z"}


def _converted(folder: Path, peer: Peer, text: str) -> list[dict[str, Any]]:
    file, out = folder / "peer.json", folder / "out.jsonl"
    file.write_text(text, encoding="utf-8")
    convert(file, peer, "default", out)
    (part,) = checked_parts(out)
    return [json.loads(line) for line in lines_of(out, part)]


def test_lists_answers_and_pages_are_read_alike(tmp_path: Path) -> None:
    pages = "\n".join(json.dumps({"results": [MEMORY]}) for _ in range(2))
    one = [_converted(tmp_path, "mem0", text) for text in (json.dumps([MEMORY]), json.dumps({"results": [MEMORY]}))]
    assert one[0][1] == one[1][1]
    assert [line["kind"] for line in _converted(tmp_path, "mem0", pages)] == ["manifest", "memory", "memory", "end"]
    again = _converted(tmp_path, "mem0", json.dumps([MEMORY]))
    assert (again[0]["export_id"], again[1]["id"]) == (one[0][0]["export_id"], one[0][1]["id"])


def test_times_entities_and_context_are_kept(tmp_path: Path) -> None:
    unit = {
        **UNIT,
        "entities": "Alice (PERSON), 北京 (LOCATION), tea",
        "context": "travel",
        "occurred_start": "2025-12-01T00:00:00Z",
        "occurred_end": "2025-12-03T00:00:00Z",
        "fact_type": "experience",
    }
    line = _converted(tmp_path, "hindsight", json.dumps({"items": [unit]}))[1]
    assert [(entity["type"], entity["text"]) for entity in line["entities"]] == [
        ("person", "Alice"),
        ("place", "北京"),
        ("other", "tea"),
    ]
    assert (line["occurred_at"][:10], line["occurred_until"][:10], line["created_at"][:10]) == (
        "2025-12-01",
        "2025-12-03",
        "2026-01-05",
    )
    assert (line["metadata"], line["labels"], line["origin"]) == (
        {"context": "travel"},
        {"fact_type": "experience"},
        "assistant",
    )


@pytest.mark.parametrize(
    ("peer", "text", "field"),
    [
        ("mem0", "{", "peer.json"),
        ("mem0", '{"items": []}', "peer.json:1"),
        ("mem0", "[1]", "peer.json:1.results[0]"),
        ("mem0", json.dumps([{**MEMORY, "memory": ""}]), "peer.json:1.results[0].memory"),
        ("mem0", json.dumps([{**MEMORY, "id": None}]), "peer.json:1.results[0].id"),
        ("mem0", json.dumps([MEMORY, {**MEMORY, "created_at": "soon"}]), "peer.json:1.results[1].created_at"),
        ("hindsight", json.dumps([{**UNIT, "text": 5}]), "peer.json:1.items[0].text"),
        ("hindsight", json.dumps([{"id": "a", "text": "b"}]), "peer.json:1.items[0].mentioned_at"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, peer: Peer, text: str, field: str) -> None:
    with pytest.raises(InvalidFields) as caught:
        _converted(tmp_path, peer, text)
    assert [violation.field for violation in caught.value.violations] == [field]
    assert not (tmp_path / "out.jsonl").exists()
