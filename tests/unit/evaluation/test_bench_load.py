"""Calls by several clients at a time."""

import threading

import pytest

from rearview.domain.errors import Unavailable
from rearview.evaluation.bench_load import BenchFigures, run_clients


@pytest.mark.parametrize("clients", [1, 3])
def test_as_many_pieces_of_work_run_at_a_time_as_there_are_clients(clients: int) -> None:
    together = threading.Barrier(clients)

    def piece() -> float:
        together.wait(timeout=60)  # breaks unless `clients` of them meet
        return 0.5

    done: list[int] = []
    seconds, _ = run_clients([piece] * (4 * clients), clients, done.append)
    assert seconds == [0.5] * (4 * clients)
    assert sum(done) == 4 * clients


def test_a_failure_is_raised_and_the_rest_is_left() -> None:
    ran: list[int] = []

    def piece(number: int) -> float:
        ran.append(number)
        if number == 2:
            raise Unavailable("gateway does not answer")
        return 0.0

    with pytest.raises(Unavailable):
        run_clients((lambda n=n: piece(n) for n in range(100)), 1, lambda _: None)  # type: ignore[misc]
    assert ran == [0, 1, 2]


def test_figures_are_percentiles_in_milliseconds_and_a_rate() -> None:
    figures = BenchFigures("bench-1", [number / 1000 for number in range(1, 101)], 100, 4.0).as_json()
    assert figures == {"p50_ms": 50.5, "p95_ms": 95.05, "p99_ms": 99.01, "per_s": 25.0}
