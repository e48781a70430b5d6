from datetime import UTC, datetime, timedelta
from uuid import UUID

from rearview.writer.merge_schedule import MERGE_DELAY, MergeSchedule

TENANT, NAMESPACE = UUID(int=1), UUID(int=2)
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def write(schedule: MergeSchedule, units: int, now: datetime) -> datetime | None:
    due = schedule.due(TENANT, NAMESPACE, units, now)
    schedule.committed(TENANT, NAMESPACE, units, due, now)
    return due


def test_one_job_a_minute_serves_all_writes() -> None:
    schedule = MergeSchedule()
    assert write(schedule, 5, NOW) == NOW + MERGE_DELAY
    assert write(schedule, 5, NOW + timedelta(seconds=20)) is None
    assert write(schedule, 5, NOW + timedelta(seconds=40)) == NOW + timedelta(seconds=40) + MERGE_DELAY


def test_many_units_do_not_wait() -> None:
    schedule = MergeSchedule(many_units=10)
    write(schedule, 6, NOW)
    assert write(schedule, 6, NOW) == NOW
    assert write(schedule, 6, NOW) == NOW + MERGE_DELAY


def test_a_write_that_did_not_commit_plans_nothing() -> None:
    schedule = MergeSchedule()
    assert schedule.due(TENANT, NAMESPACE, 5, NOW) is not None
    assert schedule.due(TENANT, NAMESPACE, 5, NOW) is not None


def test_nothing_written_needs_no_job_and_namespaces_are_apart() -> None:
    schedule = MergeSchedule()
    assert schedule.due(TENANT, NAMESPACE, 0, NOW) is None
    write(schedule, 5, NOW)
    assert schedule.due(TENANT, UUID(int=3), 5, NOW) == NOW + MERGE_DELAY
