"""The capacity model: its constants are those that the benchmarks state, its table is the one in the documents."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from loadtest.capacity.__main__ import WRONG_INPUT, main
from loadtest.capacity.constants import constants
from loadtest.capacity.model import Capacity
from loadtest.capacity.report import BEGIN, END, markdown, put_into
from loadtest.capacity.workload import Workload, workload

ROOT = Path(__file__).resolve().parents[3]
SMALL = {"tenants": 100, "memories": 10_000}


def section(name: str) -> str:
    """The text of a section of docs/benchmarks.md, its lines joined."""
    document = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    level, _, text = next(
        (marks, title, rest)
        for part in document.split("\n#")[1:]
        for marks, title, rest in [(part[: len(part) - len(part.lstrip("#"))], *part.lstrip("# ").split("\n", 1))]
        if title == name
    )
    assert level is not None
    return " ".join(text.split())


def amounts(case: Workload) -> dict[tuple[str, str], float]:
    return {(row.part, row.name): row.amount for row in Capacity(case, constants()).rows()}


@pytest.mark.parametrize("name", sorted(constants()))
def test_each_constant_is_stated_by_the_section_that_it_names(name: str) -> None:
    constant = constants()[name]
    assert constant.figure in section(constant.section)
    stated = f"{constant.value:,g}" if constant.value < 1 else f"{constant.value:,.10g}"
    assert stated.removeprefix("0") in constant.figure


def test_the_table_in_the_documents_is_that_of_the_model() -> None:
    document = (ROOT / "docs" / "scale-out.md").read_text("utf-8")
    table = markdown(Workload(), Capacity(Workload(), constants()).rows())
    assert document == put_into(document, table), "run: make capacity"


def test_bytes_are_counts_times_sizes_and_slack() -> None:
    c = {name: constant.value for name, constant in constants().items()}
    case = Workload(**SMALL, hot_share=0.5, warm_share=0.25, table_slack=2)
    found = amounts(case)
    assert found["stored", "hot memories"] == 2 * 5_000 * (c["hot_unit_bytes"] + c["hot_memory_bytes"])
    assert found["stored", "warm memories"] == 2 * 2_500 * (c["warm_unit_bytes"] + c["warm_memory_bytes"])
    assert found["stored", "cold memories: pointers"] == 2 * 2_500 * c["pointer_bytes"]
    in_database = [amount for (part, name), amount in found.items() if part == "stored" and "object store" not in name]
    assert found["stored", "database, one copy"] == pytest.approx(sum(in_database) / 2)


def test_cores_follow_the_rates() -> None:
    once, twice = (amounts(Workload(**SMALL, peak_factor=factor)) for factor in (1, 2))
    for (part, name), amount in once.items():
        if part == "cores" and not name.startswith("lifecycle"):  # moves are of the whole day
            assert twice[part, name] == pytest.approx(2 * amount), name
    case = Workload(tenants=86_400, active_share=1, turns_per_day=2, recalls_per_day=1, peak_factor=1, cores_busy=1)
    found = amounts(case)
    assert found["load at the peak", "turns appended"] == pytest.approx(2)
    assert found["cores", "writer, role serve"] == pytest.approx(constants()["append_writer_ms"].value / 1000)


def test_nodes_are_what_the_scarcest_resource_asks_for() -> None:
    plenty = {"node_cores": 1e6, "node_memory_gib": 1e6, "node_disk_tib": 1e6}
    assert amounts(Workload.model_validate({**plenty, "database_standbys": 0}))["PostgreSQL with Citus", "nodes"] == 1
    for scarce, by in (("node_cores", "cores"), ("node_memory_gib", "memory"), ("node_disk_tib", "disk")):
        found = amounts(Workload.model_validate({**plenty, scarce: 1}))
        assert found["PostgreSQL with Citus", "nodes"] == 2 * found["PostgreSQL with Citus", f"nodes by {by}"] > 2


def test_flags_go_before_the_file_and_the_file_before_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text("tenants: 5\nmemories: 6\n", "utf-8")
    case = workload(path, {"memories": "7"})
    assert (case.tenants, case.memories, case.hot_share) == (5, 7, Workload().hot_share)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--hot-share", "1.5"], "hot_share: Input should be less than or equal to 1"),
        (["--tenants", "many"], "tenants: Input should be a valid integer"),
        (["--hot-share", ".7", "--warm-share", ".7"], "hot_share and warm_share are more than 1 together"),
        (["--inputs", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_a_wrong_input_is_named(flags: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(flags) == WRONG_INPUT
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("content", ["tenant: 5", "- 5", "hot_share: -1"])
def test_a_file_that_says_something_else_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(content, "utf-8")
    with pytest.raises((ValidationError, ValueError)):
        workload(path, {})


def test_programs_read_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--tenants", "100"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["inputs"]["tenants"] == 100
    assert {(row["part"], row["name"]): row["amount"] for row in printed["rows"]} == amounts(Workload(tenants=100))


def test_only_what_stands_between_the_markers_changes() -> None:
    assert put_into(f"a\n{BEGIN}\nold\n{END}\nb", "new\n") == f"a\n{BEGIN}\nnew\n{END}\nb"
    with pytest.raises(ValueError, match="lacks the lines"):
        put_into("no markers", "new")
