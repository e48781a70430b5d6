"""Panels that several dashboards show of one service."""

from helm.tools.dashboards.panels import Panel, Query
from helm.tools.dashboards.queries import quantile, rate, selected, share, total
from helm.tools.service_levels import SERVER_ERRORS

QUANTILES = ((0.5, "p50"), (0.95, "p95"), (0.99, "p99"))


def quantiles(title: str, histogram: str, where: str = "", description: str = "") -> Panel:
    """Return the median and the tail of a duration."""
    queries = [Query(quantile(at, histogram, where=where), name, exemplars=True) for at, name in QUANTILES]
    return Panel(title, queries, "s", description)


def tail(title: str, histogram: str, by: str, where: str = "", description: str = "") -> Panel:
    """Return the 95th percentile of a duration for each value of a label."""
    query = Query(quantile(0.95, histogram, by, where), _legend(by), exemplars=True)
    return Panel(title, [query], "s", description)


def rates(title: str, counter: str, by: str, where: str = "", unit: str = "ops", description: str = "") -> Panel:
    """Return how fast a counter grows for each value of a label."""
    return Panel(title, [Query(rate(counter, by, where), _legend(by))], unit, description)


def error_share(service: str) -> Panel:
    """Return which share of a service's calls fails by its own fault."""
    calls = f"rearview_{service}_requests_total"
    return Panel(
        "Calls that failed by the service's fault",
        [Query(share(f"({rate(calls, where=SERVER_ERRORS)} or vector(0))", rate(calls)), "share")],
        "percentunit",
    )


def pools(service: str) -> list[Panel]:
    """Return how full a service's pools of connections are."""
    prefix = f"rearview_{service}_pool"
    used = f"{total(f'{prefix}_in_use', 'pool')} / {total(f'{prefix}_limit', 'pool')}"
    return [
        Panel(
            "Connections in use, of those a pool may have",
            [Query(used, "{{pool}}")],
            "percentunit",
            "Near 1 for minutes, with callers that wait: raise maxConnections, or the number of replicas.",
        ),
        Panel(
            "Waiting for a connection",
            [
                Query(total(f"{prefix}_waiting", "pool"), "{{pool}}, callers"),
                Query(rate(f"{prefix}_waited_seconds_total", "pool"), "{{pool}}, seconds of them all a second"),
                Query(rate(f"{prefix}_failures_total", "pool"), "{{pool}}, failures a second"),
            ],
        ),
    ]


def process(service: str) -> list[Panel]:
    """Return what a service's processes take. `job` tells services apart in a cluster, the port's series elsewhere."""
    shown = selected(f"rearview_{service}_requests_in_progress")
    if service == "mcp":
        shown = selected("rearview_mcp_tool_calls_in_progress")
    return [
        Panel(
            "Processor",
            [
                Query(
                    f"rate(process_cpu_seconds_total[$__rate_interval]) and on (instance, job) {shown}", "{{instance}}"
                )
            ],
            "short",
        ),
        Panel(
            "Memory", [Query(f"process_resident_memory_bytes and on (instance, job) {shown}", "{{instance}}")], "bytes"
        ),
    ]


def _legend(labels: str) -> str:
    return " ".join(f"{{{{{label.strip()}}}}}" for label in labels.split(","))
