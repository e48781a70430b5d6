"""One dashboard a service: its calls by method, its pools, its processes."""

from helm.tools.dashboards.panels import Board, Panel, Query, Row
from helm.tools.dashboards.parts import error_share, pools, process, quantiles, rates, tail
from helm.tools.dashboards.queries import total

SERVICES = ("gateway", "writer", "retriever", "lifecycle")


def service_board(service: str) -> Board:
    """Return the dashboard of a gRPC service."""
    calls, seconds = f"rearview_{service}_requests_total", f"rearview_{service}_request_seconds"
    return Board(
        f"service-{service}",
        service,
        [
            Row(
                "Calls",
                [
                    rates("By method", calls, "method", unit="reqps"),
                    rates("By code", calls, "code", unit="reqps"),
                    tail("Duration, 95th percentile, by method", seconds, "method"),
                    quantiles("Duration", seconds),
                    error_share(service),
                    rates("Errors, by reason", f"rearview_{service}_refusals_total", "reason"),
                    Panel(
                        "Being served",
                        [Query(total(f"rearview_{service}_requests_in_progress", "instance"), "{{instance}}")],
                    ),
                    Panel(
                        "Waiting for their turn",
                        [Query(total(f"rearview_{service}_calls_waiting", "instance"), "{{instance}}")],
                    ),
                    rates(
                        "Sent away before any work, by cause",
                        f"rearview_{service}_calls_shed_total",
                        "cause",
                        description="Sustained, it asks for more replicas.",
                    ),
                ],
            ),
            Row("Connections", pools(service)),
            Row("Processes", process(service)),
        ],
    )


MCP = Board(
    "service-mcp",
    "MCP adapter",
    [
        Row(
            "Tools",
            [
                rates("Calls, by tool", "rearview_mcp_tool_calls_total", "tool", unit="reqps"),
                rates("Calls, by outcome", "rearview_mcp_tool_calls_total", "outcome", unit="reqps"),
                tail("Duration, 95th percentile, by tool", "rearview_mcp_tool_seconds", "tool"),
                quantiles("Duration", "rearview_mcp_tool_seconds"),
                Panel(
                    "Being served", [Query(total("rearview_mcp_tool_calls_in_progress", "instance"), "{{instance}}")]
                ),
            ],
        ),
        Row("Processes", process("mcp")),
    ],
)
