"""The parts of `make bench` that need no stack."""

from pathlib import Path
from typing import Any

import pytest

from loadtest.bench.contender import Item, Query
from loadtest.bench.datasets import made_up
from loadtest.bench.measure import together
from loadtest.bench.parts import Figures, Parts
from loadtest.bench.report import write_report
from loadtest.bench.serve import NOTES_A_BATCH, in_turn, sessions

ROUND: Figures = {
    "mem0": {"seconds": [0.1, 0.3], "elapsed": 0.5, "spent": {"own": 0.02, "database": 0.04, "embedding": 0.01}}
}


def parts_in(folder: Path) -> Parts:
    return Parts(folder / "parts", lambda _: None)


def test_a_part_that_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    assert parts_in(tmp_path).run("keep-10-mem0", lambda: {"per_s": 7})["per_s"] == 7
    assert parts_in(tmp_path).run("keep-10-mem0", lambda: pytest.fail("measured again"))["per_s"] == 7
    assert parts_in(tmp_path).names("keep-") == ["keep-10-mem0"]


def test_a_part_that_failed_leaves_nothing(tmp_path: Path) -> None:
    def failing() -> Figures:
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        parts_in(tmp_path).run("keep-10-mem0", failing)
    assert parts_in(tmp_path).read("keep-10-mem0") is None
    assert parts_in(tmp_path).run("keep-10-mem0", lambda: {"per_s": 8})["per_s"] == 8


def test_sessions_stay_whole_and_notes_come_in_batches() -> None:
    turns = [Item(f"{session}{n}", "嗯", session) for session in "ab" for n in range(NOTES_A_BATCH + 1)]
    notes = [Item(f"n{n}", "note") for n in range(NOTES_A_BATCH + 1)]
    parts = sessions([*turns, *notes])
    assert [len(part) for part in parts] == [NOTES_A_BATCH + 1, NOTES_A_BATCH + 1, NOTES_A_BATCH, 1]
    assert [item.source_id for part in parts for item in part] == [item.source_id for item in [*turns, *notes]]


def test_work_is_done_once_each_and_its_failure_is_told() -> None:
    done: list[int] = []
    in_turn(done.append, range(50), 4, None)
    assert sorted(done) == list(range(50))

    def failing(piece: int) -> None:
        raise ValueError(str(piece))

    with pytest.raises(ValueError, match="0"):
        in_turn(failing, range(5), 1, None)


def test_texts_for_those_who_know_neither_speakers_nor_dialogues() -> None:
    assert Item("1", "看看这个", speaker="小美", caption="a cat").plain() == "小美: 看看这个 [image: a cat]"
    assert Item("1", "a note").plain() == "a note"
    assert Query(dialogue=(("user", "你好"), ("assistant", "hello"))).plain() == "你好\nhello"


def test_made_up_turns_are_named_apart() -> None:
    dataset = made_up("s", 40, 20)
    assert len({item.source_id for item in dataset.spaces["s"]}) == dataset.size == 40
    assert dataset.asked


def test_rounds_are_put_together() -> None:
    figures = together([ROUND, ROUND], "mem0")
    assert (figures["answers"], figures["per_s"], figures["p50_ms"]) == (4, 4.0, 200.0)
    assert figures["cpu_ms"] == {"own": 10.0, "database": 20.0, "embedding": 5.0, "total": 35.0}


def test_the_report_tells_what_was_measured_and_nothing_else(tmp_path: Path) -> None:
    parts = parts_in(tmp_path)
    for name, figures in measured().items():
        parts.run(name, lambda figures=figures: figures)  # type: ignore[misc]
    text = write_report(parts, tmp_path).read_text(encoding="utf-8")
    assert "| Hindsight, no LLM" not in text
    assert "| LoCoMo, evidence turns | mem0, `infer=False` | 0.500 | 0.600 | 0.700 |" in text
    assert "| Rearview | 200.0 | 290.0 | 200.0 | 290.0 | 4.0 | 1.00 | 50 |" in text
    assert "| 1,000 | 9.0 | 12.0 | 80.0 | None |" not in text
    assert "| 1,000 | 9.0 | 12.0 | 80.0 |  | 6000 | 900 |" in text


def measured() -> dict[str, dict[str, Any]]:
    """Parts of a run, as they are kept."""
    kept = {"kept": 10, "per_s": 50, "cpu_ms": ROUND["mem0"]["spent"] | {"total": 0.07}}
    kept |= {"bytes_per_memory": 6000, "rss_mb": 900}
    return {
        "alone-recall-1000": {
            "memories": 1000,
            "p50_ms": 9.0,
            "p95_ms": 12.0,
            "per_s": 80.0,
            "recall@10": None,
            "bytes_per_memory": 6000,
            "peak_rss_mb": 900,
        },
        "quality-locomo-mem0": {"recall@5": 0.5, "recall@10": 0.6, "recall@20": 0.7},
        "keep-10-rearview": kept,
        "keep-10-mem0": kept,
        **{f"speed-10-{clients}-0": {"rearview": ROUND["mem0"], **ROUND} for clients in (1, 8)},
    }
