"""Waiting until a running stack's database has cleaned up after many rows were moved."""

from __future__ import annotations

import time

from rearview.adapters.postgres.bulk_load import BulkLoad
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DataFolder
from rearview.evaluation.progress import Steps

MOST_DEAD = 10_000
"""With fewer rows of before, searches do not notice."""

LONGEST_SECONDS = 300
INTERVAL_SECONDS = 1.0


def wait_until_cleaned_up(folder: DataFolder, steps: Steps) -> float:
    """Wait until the database's own rounds (autovacuum) have cleared the tables that cold memories left, so that
    they are asked as they will be for months, and not as in the minute after; return the seconds it took.

    Raises:
        StackError: the stack does not run.
    """
    shown = steps.track("clean up", LONGEST_SECONDS)
    began = time.monotonic()
    endpoints = Endpoints.read(folder.endpoints_file)
    if endpoints is None:
        raise StackError(f"no stack is running in {folder.root}")
    with BulkLoad(endpoints.postgres_owner_url) as load:
        while (passed := time.monotonic() - began) < LONGEST_SECONDS:
            shown(int(passed))
            time.sleep(INTERVAL_SECONDS)  # the first time, too: what was moved is counted within a second
            if load.dead_rows() < MOST_DEAD:
                break
    shown(LONGEST_SECONDS)
    return time.monotonic() - began
