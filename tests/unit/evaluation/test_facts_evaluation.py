"""The facts set is large and hard enough, the extractor stands on it, and a bad extractor is found out."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rearview.cli.eval_commands import commands
from rearview.domain.errors import InvalidFields
from rearview.domain.fact import EarlierTurn, FactCandidate
from rearview.evaluation.facts import evaluate_facts, read_facts_file
from rearview.language.facts import RuleFactExtractor

LEAST_F1 = 0.90


def test_the_shipped_set_is_large_and_full_of_traps() -> None:
    utterances = read_facts_file(None).utterances
    assert len(utterances) >= 240
    assert sum(utterance.trap is not None for utterance in utterances) >= 80
    assert len({utterance.id for utterance in utterances}) == len(utterances)
    assert len({utterance.text + repr(utterance.previous) for utterance in utterances}) == len(utterances)


def test_each_half_is_read_well_and_nothing_is_superseded_falsely() -> None:
    figures = evaluate_facts(read_facts_file(None), RuleFactExtractor()).as_json()
    assert figures["by_half"]["tuning"]["f1"] >= LEAST_F1
    assert figures["by_half"]["held_out"]["f1"] >= LEAST_F1
    assert figures["false_supersessions"] == 0
    assert figures["traps_kept"] == figures["traps"]


class _TakesEverythingForABudget:
    def extract_facts(
        self,
        text: str,
        role: str,
        *,
        reference: datetime | None = None,
        previous: Sequence[EarlierTurn] = (),
        tool: str = "",
    ) -> tuple[FactCandidate, ...]:
        return RuleFactExtractor().extract_facts("我的预算是77元", "user")


def test_a_gullible_extractor_is_found_out() -> None:
    figures = evaluate_facts(read_facts_file(None), _TakesEverythingForABudget()).as_json()
    assert figures["f1"] < 0.1
    assert figures["false_supersessions"] > 100
    assert figures["wrong_values"] > 0
    assert figures["traps_kept"] == 0


def test_failures_are_shown_of_the_tuning_half_alone() -> None:
    figures = evaluate_facts(read_facts_file(None), _TakesEverythingForABudget()).as_json()
    assert figures["failures"]
    assert all(failure["id"] % 2 for failure in figures["failures"])


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("reference: x", "file"),
        ("a: [", "file"),
        ('reference: "2024-05-15T10:00:00+08:00"\nzone: Mars/Base\nutterances: []', "file"),
        ('reference: "2024-05-15T10:00:00+08:00"\nzone: UTC\nutterances: [{id: 1}]', "utterances[0]"),
        (
            'reference: "2024-05-15T10:00:00+08:00"\nzone: UTC\nutterances: [{id: 1, text: a, facts: [{value: x}]}]',
            "utterances[0]",
        ),
    ],
)
def test_bad_files_are_named(tmp_path: Path, content: str, field: str) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidFields) as caught:
        read_facts_file(path)
    assert caught.value.violations[0].field == field


def test_the_command_needs_no_service(tmp_path: Path) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text(
        'reference: "2024-05-15T10:00:00+08:00"\nzone: Asia/Shanghai\nutterances:\n'
        '  - {id: 1, text: 预算8000元, facts: [{attribute: budget, value: "8000", unit: CNY}]}\n'
        "  - {id: 2, text: If I had 8000, trap: hypothetical}\n",
        encoding="utf-8",
    )
    result = CliRunner().invoke(commands, ["facts", str(path), "--json"])
    assert result.exit_code == 0
    figures = json.loads(result.stdout)
    assert (figures["f1"], figures["traps_kept"], figures["false_supersessions"]) == (1.0, 1, 0)
