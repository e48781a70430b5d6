"""Token buckets: what they let through, and when the next token is there."""

from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.token_bucket import Rate, take

rates = st.builds(Rate, st.integers(1, 10_000).map(float), st.floats(0.01, 60))


@given(rates, st.floats(0, 2e9), st.lists(st.floats(0, 0.5), max_size=60))
def test_never_more_than_a_full_bucket_and_what_has_flowed_in(rate: Rate, start: float, pauses: list[float]) -> None:
    full_at, now, taken = 0.0, start, 0
    for pause in pauses:
        now += pause
        wait, full_at = take(full_at, now, rate)
        taken += not wait
    assert taken <= rate.burst + (now - start) * rate.per_second + 1


@given(rates, st.floats(0, 1e6))
def test_after_the_wait_there_is_a_token_and_not_much_before(rate: Rate, now: float) -> None:
    full_at = 0.0
    for _ in range(200):
        wait, full_at = take(full_at, now, rate)
        if wait:
            break
    else:
        assert rate.burst > 199
        return
    assert wait <= 1 / rate.per_second + 1e-6
    assert take(full_at, now + wait, rate)[0] == 0.0
    assert take(full_at, now + wait / 2, rate)[0] > 0.0 or wait < 1e-5


def test_a_clock_that_was_set_back_locks_nobody_out() -> None:
    rate = Rate(2.0, 3.0)
    wait, full_at = take(1_000_000.0, 10.0, rate)
    assert (wait, full_at) == (0.5, 13.0)
