"""Logs: bounded, complete within the bound, readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.embedded.log_rotation import LONGEST_LINE_BYTES, LineSplitter, RotatingLog, tail


def test_the_sum_of_all_files_is_bounded(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path / "x.log", max_size_bytes=100, keep_files=2)
    for number in range(100):
        log.write(f"line {number:03}\n".encode())
    log.close()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["x.log", "x.log.1", "x.log.2"]
    assert all((tmp_path / name).stat().st_size <= 100 for name in files)
    kept = "".join((tmp_path / name).read_text() for name in ("x.log.2", "x.log.1", "x.log"))
    lines = kept.splitlines()
    assert lines[-1] == "line 099"
    assert lines == [f"line {number:03}" for number in range(100 - len(lines), 100)]


def test_a_rotation_does_not_split_a_line(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path / "x.log", max_size_bytes=20, keep_files=5)
    log.write("第一行\n".encode())
    log.write(b"ab\nsecond line is long\n")
    log.close()
    assert (tmp_path / "x.log.1").read_text(encoding="utf-8") == "第一行\nab\n"
    assert (tmp_path / "x.log").read_text(encoding="utf-8") == "second line is long\n"


def test_an_existing_log_is_continued(tmp_path: Path) -> None:
    for text in (b"one\n", b"two\n"):
        log = RotatingLog(tmp_path / "x.log")
        log.write(text)
        log.close()
    assert (tmp_path / "x.log").read_bytes() == b"one\ntwo\n"


@given(st.text(alphabet="ab\n记忆🙂", max_size=200), st.integers(1, 7))
def test_lines_survive_any_cutting_of_the_stream(text: str, size: int) -> None:
    lines: list[str] = []
    splitter = LineSplitter(lines.append)
    data = text.encode()
    for start in range(0, len(data), size):
        splitter.feed(data[start : start + size])
    splitter.flush()
    expected = text.split("\n")
    assert lines == (expected[:-1] if expected[-1] == "" else expected)


def test_a_line_without_end_is_not_hoarded() -> None:
    lines: list[str] = []
    splitter = LineSplitter(lines.append)
    for _ in range(10):
        splitter.feed(b"x" * LONGEST_LINE_BYTES)
    assert len(lines) >= 5
    assert all(len(line) <= LONGEST_LINE_BYTES for line in lines)


def test_bytes_that_are_no_text_are_shown_somehow() -> None:
    lines: list[str] = []
    LineSplitter(lines.append).feed(b"\xff\xfe ok\r\n")
    assert lines == ["\ufffd\ufffd ok"]


def test_the_tail_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    assert tail(path) == ""
    path.write_text("\n".join(f"行 {number}" for number in range(10_000)), encoding="utf-8")
    assert tail(path, lines=2) == "行 9998\n行 9999"


def test_a_log_that_could_not_be_opened_goes_on_when_it_can(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path / "missing" / "x.log", max_size_bytes=8, keep_files=1)
    for _ in range(2):
        with pytest.raises(OSError, match="No such file"):
            log.write(b"lost\n")
    (tmp_path / "missing").mkdir()
    log.write(b"kept 1\n")
    log.write(b"kept 2\n")
    log.close()
    assert [tail(tmp_path / "missing" / name) for name in ("x.log.1", "x.log")] == ["kept 1", "kept 2"]
