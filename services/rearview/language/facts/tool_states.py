"""Ids and states in the structured results of tools. They are a tool's word: untrusted, and about its records only."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rearview.language.facts.reading import PLACEHOLDER

MAX_RESULT_CHARACTERS = 32_768
MAX_STATES = 64
_MAX_DEPTH = 12
_MAX_TEXT = 60

_ID_KEY = re.compile(
    r"^(?P<noun>[a-z][a-z_ -]*?)?[_ -]?(?:id|no|number|num|code|key|uuid|ref|reference)$"
    r"|^(?P<zh>[\u4e00-\u9fff]{1,6}?)(?:号|编号|号码|单号|ID|id)$",
    re.IGNORECASE,
)
_STATE_KEY = re.compile(
    r"^(?:[a-z]+[_ -]?)?(?:status|state|phase|stage)$|^[\u4e00-\u9fff]{0,4}(?:状态|进度)$", re.IGNORECASE
)
_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])")
_NOT_IDS = frozenset(
    (
        "phone",
        "card",
        "account",
        "zip",
        "postal",
        "country",
        "error",
        "status",
        "exit",
        "http",
        "return",
        "line",
        "page",
        "api",
        "access",
        "secret",
        "private",
        "public",
        "language",
        "currency",
        "room",
        "house",
        "手机",
        "电话",
        "身份证",
        "卡",
    )
)
_NOUNS = {
    "订": "order",
    "订单": "order",
    "单": "order",
    "航班": "flight",
    "发票": "invoice",
    "工": "ticket",
    "工单": "ticket",
    "快递": "delivery",
    "运": "delivery",
    "任务": "task",
    "会议": "meeting",
    "合同": "contract",
    "退款": "refund",
    "预订": "booking",
    "预约": "booking",
    "流水": "transaction",
}
_RECORD = "record"


@dataclass(frozen=True, slots=True)
class ToolState:
    """One id or state of a record, and where its value stands in the result."""

    record: str
    identifier: str
    attribute: str
    value: str
    start: int
    end: int


def tool_states(result: str, tool: str) -> Iterator[ToolState]:
    """The ids and states of a structured result, in order; nothing where it is not JSON, or too long or deep."""
    text = result.strip()
    if len(result) > MAX_RESULT_CHARACTERS or text[:1] not in ("{", "[") or not text:
        return
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return
    at = 0
    for record, identifier, attribute, value in islice(_records(parsed, _noun_of(tool), 0), MAX_STATES):
        found = result.find(value, at)
        at = found if found >= 0 else at
        start = max(found, 0)
        yield ToolState(record, identifier, attribute, value, start, start + len(value) if found >= 0 else len(result))


def _records(node: Any, noun: str, depth: int) -> Iterator[tuple[str, str, str, str]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(node, list):
        for item in node:
            yield from _records(item, noun, depth + 1)
    elif isinstance(node, dict):
        identified = _identified(node, noun)
        if identified is not None:
            record, identifier = identified
            yield record, identifier, "id", identifier
            for key, value in node.items():
                if _STATE_KEY.match(key) and (said := _scalar(value)):
                    yield record, identifier, "status", said
        for key, value in node.items():
            if isinstance(value, dict | list):
                yield from _records(value, _singular(key), depth + 1)


def _identified(node: Mapping[str, Any], noun: str) -> tuple[str, str] | None:
    """The record's noun and id: its own (`id` in `ticket`) before one it merely names (`order_id`)."""
    for key, value in node.items():
        said = _scalar(value)
        match = _ID_KEY.match(_CAMEL.sub("_", key)) if said else None
        if match is None or said is None:
            continue
        of = (match["noun"] or match["zh"] or "").lower().strip("_ -")
        if of in _NOT_IDS or not _id_like(said):
            continue
        return (_NOUNS.get(of, of) or noun or _RECORD), said
    return None


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    if isinstance(value, int) and abs(value) >= 10**18:
        return None
    said = str(value).strip()
    return said if 0 < len(said) <= _MAX_TEXT and "\n" not in said and not PLACEHOLDER.search(said) else None


def _id_like(said: str) -> bool:
    return any(character.isdigit() for character in said) and " " not in said


def _singular(key: str) -> str:
    word = _CAMEL.sub("_", key).lower()
    word = _NOUNS.get(word, word)
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word if word.isalpha() else _RECORD


def _noun_of(tool: str) -> str:
    """The record a tool's name speaks of: `get_order` gives `order`."""
    words = [word for word in re.split(r"[^a-z]+", _CAMEL.sub("_", tool[:_MAX_TEXT]).lower()) if word]
    return _singular(words[-1]) if len(words) > 1 else _RECORD
