"""Ages of jobs that carry no time, from how far ids had come when."""

from hypothesis import given
from hypothesis import strategies as st

from rearview.lifecycle.job_ages import MOST_MARKS, JobAges


def test_a_job_is_as_old_as_the_first_look_that_could_have_seen_it() -> None:
    ages = JobAges()
    ages.note(0.0, 10)
    ages.note(15.0, 20)
    ages.note(30.0, 20)
    ages.note(45.0, 21)
    assert [ages.age_seconds(60.0, job) for job in (5, 10, 11, 20, 21)] == [60.0, 60.0, 45.0, 45.0, 15.0]
    assert ages.age_seconds(60.0, 22) == 0.0


def test_a_queue_that_is_drained_in_order_is_as_late_as_its_front() -> None:
    """The oldest job is another one at each look; its age must not begin anew."""
    ages = JobAges()
    for look in range(100):
        moment = 10.0 * look
        ages.note(moment, 100 * (look + 1))
        oldest = 50 * (look + 1)  # half as fast as jobs come
        ages.forget_before(oldest)
        late = ages.age_seconds(moment, oldest)
    assert late == 500.0


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200), st.integers(0, 500))
def test_forgetting_changes_no_age_of_what_waits(steps: list[int], front: int) -> None:
    kept, forgetful = JobAges(), JobAges()
    last_id = 0
    for at, step in enumerate(steps):
        last_id += step
        kept.note(float(at), last_id)
        forgetful.note(float(at), last_id)
        forgetful.forget_before(min(front, last_id))
    for job in range(min(front, last_id), last_id + 1, 7):
        assert kept.age_seconds(1_000.0, job) == forgetful.age_seconds(1_000.0, job)


def test_memory_is_bounded_and_ages_stay_about_right() -> None:
    ages = JobAges()
    looks = 5 * MOST_MARKS
    for look in range(looks):
        ages.note(float(look), look)
    assert len(ages._marks) <= MOST_MARKS
    for job in (0, looks // 2, looks - 1):
        assert abs(ages.age_seconds(float(looks), job) - (looks - job)) <= 32
