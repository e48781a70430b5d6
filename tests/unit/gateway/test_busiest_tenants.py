"""Ranks without names, of whole minutes, in bounded memory."""

from uuid import UUID

from rearview.gateway.busiest_tenants import RANKS, BusiestTenants
from rearview.telemetry.metrics import Metrics


def _calls(metrics: Metrics) -> list[float | None]:
    value = metrics.registry.get_sample_value
    return [value("rearview_gateway_tenant_calls", {"rank": str(rank + 1)}) for rank in range(RANKS)]


def test_the_last_whole_minute_is_shown_by_rank() -> None:
    now, metrics = [0.0], Metrics("gateway")
    tenants = BusiestTenants(metrics, monotonic=lambda: now[0])
    for tenant, calls in ((1, 3), (2, 7), (3, 1)):
        for _ in range(calls):
            tenants.note(UUID(int=tenant))
    assert _calls(metrics) == [0, 0, 0, 0, 0]
    now[0] = 61.0
    assert _calls(metrics) == [7, 3, 1, 0, 0]
    assert metrics.registry.get_sample_value("rearview_gateway_tenants_active") == 3
    now[0] = 125.0
    assert _calls(metrics) == [0, 0, 0, 0, 0]


def test_what_is_long_past_is_not_shown_as_the_last_minute() -> None:
    now, metrics = [0.0], Metrics("gateway")
    tenants = BusiestTenants(metrics, monotonic=lambda: now[0])
    tenants.note(UUID(int=1))
    now[0] = 3_600.0
    assert _calls(metrics) == [0, 0, 0, 0, 0]


def test_tenants_beyond_the_bound_are_not_counted() -> None:
    now, metrics = [0.0], Metrics("gateway")
    tenants = BusiestTenants(metrics, most_tenants=10, monotonic=lambda: now[0])
    for tenant in range(100):
        tenants.note(UUID(int=tenant))
        tenants.note(UUID(int=0))
    now[0] = 61.0
    assert _calls(metrics) == [101, 1, 1, 1, 1]
    assert metrics.registry.get_sample_value("rearview_gateway_tenants_active") == 10
