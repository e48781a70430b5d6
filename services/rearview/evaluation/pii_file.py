"""Reading texts whose personal data is marked: presidio's JSON, or JSON Lines."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rearview.domain.text import PiiCategory, RedactedSpan

OTHER_NAMES: Mapping[str, PiiCategory] = {
    "PHONE_NUMBER": PiiCategory.PHONE,
    "EMAIL_ADDRESS": PiiCategory.EMAIL,
    "US_SSN": PiiCategory.NATIONAL_ID,
    "US_ITIN": PiiCategory.NATIONAL_ID,
    "CREDIT_CARD": PiiCategory.BANK_CARD,
    "IBAN_CODE": PiiCategory.IBAN,
    "US_PASSPORT": PiiCategory.PASSPORT,
    "IP_ADDRESS": PiiCategory.IP,
    "STREET_ADDRESS": PiiCategory.ADDRESS,
    "ORGANIZATION": PiiCategory.ORGANISATION,
}
"""presidio's names of what is a category here. Other types (titles, ages, countries, ...) are not redacted at all."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text and what stands in it; `part` names the part of the file it belongs to, empty when it has no parts."""

    text: str
    spans: tuple[RedactedSpan, ...]
    part: str


def read_marked_texts(file: Path) -> list[MarkedText]:
    """Return the texts of a file, spans of unknown types left out.

    A JSON file holds a list of `{"full_text" or "text", "spans": [{"entity_type", "start_position",
    "end_position"}]}`; JSON Lines hold one such object a line, with an optional `"split"`.

    Raises:
        ValueError: the file is of another format; the message says where.
    """
    text = file.read_text(encoding="utf-8")
    if text.lstrip().startswith("["):
        records = _json(text, file.name)
    else:
        lines = text.splitlines()
        records = [_json(line, f"{file.name}:{at}") for at, line in enumerate(lines, start=1) if line.strip()]
    return [_marked(record, f"{file.name}, record {at}") for at, record in enumerate(records, start=1)]


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}: no JSON ({error})") from error


def _marked(record: Any, where: str) -> MarkedText:
    try:
        text = record["full_text"] if "full_text" in record else record["text"]
        spans = []
        for span in record["spans"]:
            start, end = int(span["start_position"]), int(span["end_position"])
            if not 0 <= start < end <= len(text):
                raise ValueError(f"{where}: a span from {start} to {end} in a text of {len(text)} characters")
            category = category_of(span["entity_type"])
            if category is not None:
                spans.append(RedactedSpan(category, start, end))
        return MarkedText(str(text), tuple(spans), str(record.get("split", "")))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{where}: lacks text, spans, or a span's type and positions") from error


def category_of(name: str) -> PiiCategory | None:
    """Return the category of a type's name, ours or presidio's; None for what is none."""
    if name in PiiCategory.__members__:
        return PiiCategory(name)
    return OTHER_NAMES.get(name)
