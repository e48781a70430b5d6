"""Is the platform well? The one dashboard to begin with."""

from helm.tools.dashboards.panels import Board, Panel, Query, Row
from helm.tools.dashboards.parts import error_share, quantiles, rates
from helm.tools.dashboards.queries import largest, quantile, rate, selected, share
from helm.tools.service_levels import OBJECTIVES, SERVER_ERRORS, ratio

_CALLS = "rearview_gateway_requests_total"
_SECONDS = "rearview_gateway_request_seconds"

OVERVIEW = Board(
    "overview",
    "overview",
    [
        Row(
            "Now",
            [
                Panel("Calls", [Query(rate(_CALLS))], "reqps", number=True),
                Panel(
                    "Calls that succeed, or fail by the caller's fault",
                    [Query(f"1 - {share(f'({rate(_CALLS, where=SERVER_ERRORS)} or vector(0))', rate(_CALLS))}")],
                    "percentunit",
                    number=True,
                ),
                Panel(
                    "Recall, 95th percentile",
                    [Query(quantile(0.95, _SECONDS, where='method="Recall"'))],
                    "s",
                    number=True,
                ),
                Panel(
                    "Oldest waiting job",
                    [Query(f"max ({selected('rearview_lifecycle_queue_oldest_seconds')})")],
                    "s",
                    number=True,
                ),
            ],
        ),
        Row(
            "Calls",
            [
                rates("Calls of the gateway, by code", _CALLS, "code", unit="reqps"),
                rates("Calls of the gateway, by method", _CALLS, "method", unit="reqps"),
                quantiles("Recall", _SECONDS, 'method="Recall"', "From the gateway's door and back, cache included."),
                quantiles("AppendEvents", _SECONDS, 'method="AppendEvents"', "Until the turns survive any crash."),
                error_share("gateway"),
                rates("Errors, by reason", "rearview_gateway_refusals_total", "reason"),
            ],
        ),
        Row(
            "Dependencies and work that waits",
            [
                Panel(
                    "Dependencies that answer",
                    [Query(f"min by (dependency) ({selected('rearview_gateway_dependency_up')})", "{{dependency}}")],
                    description="1 while a dependency answers the gateway's probe.",
                ),
                Panel(
                    "Jobs that wait",
                    [Query(largest("rearview_lifecycle_queue_jobs", "task", 'state="waiting"'), "{{task}}")],
                ),
                Panel("Dead letters", [Query(largest("rearview_lifecycle_dead_letters", "task"), "{{task}}")]),
                Panel(
                    "Error budget of the month that is left",
                    [
                        Query(f"1 - {selected(ratio(one, '3d'))} / (1 - {one.objective})", one.name)
                        for one in OBJECTIVES
                    ],
                    "percentunit",
                    "As if the last three days were the month. Below 0 the objective is missed.",
                ),
            ],
        ),
    ],
)
