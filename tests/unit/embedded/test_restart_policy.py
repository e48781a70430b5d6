"""Back-off after crashes."""

from __future__ import annotations

from rearview.embedded.restart_policy import RestartPolicy


def test_delays_grow_to_a_limit_and_a_crash_loop_is_slow() -> None:
    policy = RestartPolicy(
        first_delay_seconds=1, factor=3, longest_delay_seconds=20, crash_loop_after=5, crash_loop_delay_seconds=90
    )
    assert [policy.delay_seconds(crashes) for crashes in range(1, 8)] == [1, 3, 9, 20, 90, 90, 90]
    assert [policy.is_crash_loop(crashes) for crashes in (4, 5)] == [False, True]
