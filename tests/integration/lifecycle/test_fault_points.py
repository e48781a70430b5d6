"""The lifecycle's work killed at every named point, while memories are written, recalled and forgotten beside it.

`REARVIEW_FAULT_RUNS` is how often at each point (once), `REARVIEW_FAULT_SEED` the seed of the first run, and
`REARVIEW_FAULT_ONLY` a part of the names of the rows to run (all).
"""

import os
import re
from pathlib import Path

import pytest

import rearview
from rearview.lifecycle.fault_points import FAULT_POINTS, REEMBED_POINTS, RESCAN_POINTS, RESTORE_POINTS
from tests.support.faults.bench import open_fault_bench
from tests.support.faults.matrix import fill_matrix, rows
from tests.support.faults.scenarios import SCENARIOS
from tests.support.stack import BucketAddress, DatabaseUrls

RUNS = int(os.environ.get("REARVIEW_FAULT_RUNS", "1"))
SEED = int(os.environ.get("REARVIEW_FAULT_SEED", "1"))
ONLY = os.environ.get("REARVIEW_FAULT_ONLY", "")


async def test_whatever_is_killed_nothing_is_lost_doubled_left_or_brought_back(
    database: DatabaseUrls, redis_url: str, bucket: BucketAddress, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [row for row in rows() if ONLY in "/".join(row)]
    assert chosen, f"no fault point is named like {ONLY}"

    def say(text: str) -> None:
        with capsys.disabled():
            print(text, flush=True)  # noqa: T201 -- the matrix is what the test is for

    async with open_fault_bench(database, redis_url, bucket) as bench:
        matrix = await fill_matrix(bench, chosen, RUNS, SEED, say if RUNS > 1 or ONLY else lambda _run: None)
    say(f"\n{matrix}")
    if matrix.failures:
        pytest.fail("\n".join(matrix.failures), pytrace=False)


def test_every_named_point_is_in_the_code_and_every_point_in_the_code_is_named() -> None:
    code = "".join(path.read_text() for path in Path(rearview.__file__).parent.rglob("*.py"))
    reached = set(re.findall(r'(?:reach|_on_step)\(\s*"([a-z_.]+)"', code))
    named = {point for points in FAULT_POINTS.values() for point in points}
    named |= {*REEMBED_POINTS, *RESCAN_POINTS, *RESTORE_POINTS}
    assert reached == named
    assert SCENARIOS.keys() == FAULT_POINTS.keys()
    assert len(named) >= 25
