"""The shipped test set is whole: every subject in every language, every known complaint, and docs that say where."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from rearview.evaluation.scenarios.files import read_scenarios

ROOT = Path(__file__).parents[3]
FILES = read_scenarios(None)
LANGUAGES = {"zh", "en", "mixed"}
COMPLAINTS = range(1, 31)
SUBJECTS = (
    "cross-session recall",
    "time range",
    "exact id",
    "paraphrase",
    "conflict",
    "correction",
    "retraction",
    "forgetting",
    "isolation",
    "namespaces",
    "tiers",
    "expiry",
    "cache",
    "echo",
    "poisoning",
    "redaction",
    "long sessions",
    "topic drift",
    "tool results",
    "budgets of tokens",
    "duplicates",
    "export and import",
    "pipeline",
)
TABLE_ROW = re.compile(r"^\| (\d+) \| [^|]+ \| ([^|]+) \| ([^|]*) \|$", re.MULTILINE)


def _by_complaint() -> dict[int, set[str]]:
    files: defaultdict[int, set[str]] = defaultdict(set)
    for file in FILES:
        if file.scenario.complaint is not None:
            files[file.scenario.complaint].add(file.name)
    return files


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 130


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_subject_is_played_in_each_language(subject: str) -> None:
    assert {file.scenario.language for file in FILES if subject in file.scenario.about} == LANGUAGES


@pytest.mark.parametrize("folder", sorted({file.name.partition("/")[0] for file in FILES}))
def test_each_folder_has_each_language(folder: str) -> None:
    assert {file.scenario.language for file in FILES if file.name.startswith(f"{folder}/")} == LANGUAGES


def test_titles_tell_scenarios_apart() -> None:
    assert len({file.scenario.title for file in FILES}) == len(FILES)


def test_every_known_complaint_has_a_scenario_and_no_other_is_named() -> None:
    assert set(_by_complaint()) == set(COMPLAINTS)


def test_the_docs_name_the_scenarios_of_each_complaint_and_tests_that_exist() -> None:
    rows = TABLE_ROW.findall((ROOT / "docs/scenarios.md").read_text(encoding="utf-8"))
    told = {int(number): set(re.findall(r"`([^`]+)`", files)) for number, files, _ in rows}
    assert told == dict(_by_complaint())
    tests = [test for _, _, tests in rows for test in re.findall(r"\(\.\./(tests/[^)]+)\)", tests)]
    assert tests
    assert [test for test in tests if not (ROOT / test).is_file()] == []
