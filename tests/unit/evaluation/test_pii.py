"""Measuring redaction: formats, the rule of matching, and what the shipped Chinese set must show."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rearview.cli import __main__ as cli
from rearview.domain.text import PiiCategory, RedactedSpan
from rearview.evaluation.pii import evaluate_pii
from rearview.evaluation.pii_file import MarkedText, read_marked_texts
from rearview.language.pii import PatternRedactor

RULES = frozenset(PiiCategory) - {PiiCategory.PERSON, PiiCategory.ORGANISATION}


def found_spans(text: str, categories: Collection[PiiCategory]) -> Sequence[RedactedSpan]:
    return PatternRedactor().redact(text, categories).spans


def span(kind: str, start: int, end: int) -> dict[str, object]:
    return {"entity_type": kind, "start_position": start, "end_position": end}


def test_reads_both_formats_and_both_vocabularies(tmp_path: Path) -> None:
    listed, lines = tmp_path / "a.json", tmp_path / "b.jsonl"
    listed.write_text(
        json.dumps([{"full_text": "call 415-555-2671", "spans": [span("PHONE_NUMBER", 5, 17), span("TITLE", 0, 4)]}])
    )
    lines.write_text('{"text": "打13812345678", "spans": [' + json.dumps(span("PHONE", 1, 12)) + "]}\n\n")
    assert read_marked_texts(listed) == [MarkedText("call 415-555-2671", (RedactedSpan(PiiCategory.PHONE, 5, 17),), "")]
    assert read_marked_texts(lines) == [MarkedText("打13812345678", (RedactedSpan(PiiCategory.PHONE, 1, 12),), "")]


@pytest.mark.parametrize(
    "content",
    ["{no json", '{"text": "x"}', '{"text": "x", "spans": [{"entity_type": "PHONE"}]}', "[1]",
     '{"text": "x", "spans": [{"entity_type": "PHONE", "start_position": 0, "end_position": 9}]}'],
)  # fmt: skip
def test_says_what_is_wrong_with_a_file(tmp_path: Path, content: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(content)
    with pytest.raises(ValueError, match=r"bad\.jsonl"):
        read_marked_texts(file)


def test_a_span_counts_by_category_and_overlap() -> None:
    texts = [
        MarkedText("打13812345678", (RedactedSpan(PiiCategory.PHONE, 1, 12),), ""),
        MarkedText("打13812345678", (RedactedSpan(PiiCategory.BANK_CARD, 1, 12),), ""),
        MarkedText("打13812345678", (RedactedSpan(PiiCategory.PHONE, 1, 6),), ""),
        MarkedText("mail a@example.com", (), ""),
    ]
    figures: Any = evaluate_pii(texts, found_spans, frozenset(PiiCategory))
    assert (figures["precision"], figures["recall"], figures["f1"]) == (0.25, 0.3333, 0.2857)
    assert figures["by_category"]["PHONE"] == {"precision": 0.3333, "recall": 0.5, "f1": 0.4, "marked": 2, "found": 3}
    only: Any = evaluate_pii(texts, found_spans, {PiiCategory.EMAIL})
    assert (only["precision"], only["recall"], only["marked"]) == (0.0, 1.0, 0)


@pytest.mark.parametrize("part", ["tune", "held_out"])
def test_the_chinese_set_is_redacted_and_its_lookalikes_stay(part: str) -> None:
    texts = [text for text in read_marked_texts(zh_set()) if text.part == part]
    assert len(texts) >= 160
    assert sum(not text.spans for text in texts) >= 0.45 * len(texts)
    assert len({found.category for text in texts for found in text.spans}) >= 12
    figures: Any = evaluate_pii(texts, found_spans, RULES)
    assert figures["precision"] >= 0.98
    assert figures["recall"] >= 0.98


def test_the_command_prints_json_and_refuses_unknown_categories() -> None:
    runner = CliRunner()
    result = runner.invoke(cli.app, ["eval", "pii", str(zh_set()), "--categories", "EMAIL_ADDRESS,IP", "--json"])
    assert result.exit_code == 0
    assert set(json.loads(result.stdout)["by_category"]) == {"EMAIL", "IP"}
    result = runner.invoke(cli.app, ["eval", "pii", str(zh_set()), "--categories", "NONE"])
    assert result.exit_code == 1


def zh_set() -> Path:
    return Path(cli.__file__).parents[1] / "evaluation" / "data" / "pii_zh.jsonl"
