"""The soak's faults: the seed alone decides, everything gets its turn, and what is measured is what it says."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rearview.client import Client
from tests.support.soak import texts
from tests.support.soak.faults import KILLED, schedule
from tests.support.soak.figures import Probe
from tests.support.soak.history import History
from tests.support.soak.load import _listed, _seen
from tests.support.soak.world import Thing

HOUR = 3600.0


def test_the_same_seed_replays_the_same_faults() -> None:
    faults = schedule(5, HOUR, 22, clocks=True, disk=True)
    assert faults == schedule(5, HOUR, 22, clocks=True, disk=True)
    assert faults != schedule(6, HOUR, 22, clocks=True, disk=True)
    assert [fault.at for fault in faults] == sorted(fault.at for fault in faults)


def test_everything_breaks_within_an_hour() -> None:
    faults = schedule(1, HOUR, 22, clocks=True, disk=True)
    assert {fault.target for fault in faults if fault.kind == "kill"} == set(KILLED)
    kinds = {fault.kind for fault in faults}
    assert kinds == {"kill", "stall the link to", "cut the link to", "pause", "move the clock of", "fill"}
    left = {fault.kind for fault in schedule(1, HOUR, 22, clocks=False, disk=False)}
    assert left == kinds - {"move the clock of", "fill"}


def test_marks_are_read_back_out_of_texts() -> None:
    thing, other = "a/alpha/aaabc", "b/beta/zzzzz"
    told = f"号箱子{texts.mark(thing, 27)}在仓库 {texts.mark(other)}"
    assert texts.marks([told, texts.mark(thing)]) == [(thing, 27), (other, 0), (thing, 0)]


def test_a_list_shows_what_stands_there_twice_and_what_is_missing() -> None:
    once, twice, gone = (f"a/alpha/{texts.thing_name(number)}" for number in (1, 2, 3))
    known = [Thing(name, is_note=True, text="") for name in (once, twice, gone)]
    listed = _listed([texts.mark(twice), texts.mark(once), texts.mark(twice)], known)
    assert [(effect.thing, effect.action.value) for effect in listed] == [
        (twice, "see"),
        (once, "see"),
        (twice, "see"),
        (gone, "miss"),
    ]
    assert len(_seen([texts.mark(once), texts.mark(once)])) == 1


def probe(answers: list[tuple[float, float | None]]) -> Probe:
    with Client.connect("localhost:1", "rv_unused") as client:
        return Probe(client, History(), answers)


@pytest.mark.parametrize(
    ("slow_until", "failed_until", "expected"),
    [(0.0, 0.0, 0.0), (13.0, 0.0, 3.0), (12.0, 14.0, 4.0), (90.0, 0.0, None)],
)
def test_recall_is_back_to_normal_when_a_whole_window_is(
    slow_until: float, failed_until: float, expected: float | None
) -> None:
    """A fault at second 10; an answer every half second."""
    answers = [
        (at, None if 10 <= at < failed_until else 2.0 if 10 <= at < slow_until else 0.1)
        for at in (number / 2 for number in range(60))
    ]
    assert probe(answers).back_to_normal(10.0, 0.1) == expected


def test_a_history_takes_operations_from_any_thread(tmp_path: Path) -> None:
    history = History()

    def add() -> None:
        for _ in range(50):
            history.add("c", "Method", ["a/alpha"], 0.0, None, ())

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [operation.number for operation in history.operations] == list(range(1, 201))
    history.write(tmp_path / "history.jsonl")
    assert len((tmp_path / "history.jsonl").read_text().splitlines()) == 200
