"""Who is let in, who is refused, and how unevenly tenants use the platform; no series names a tenant."""

from helm.tools.dashboards.panels import Board, Panel, Query, Row
from helm.tools.dashboards.parts import rates
from helm.tools.dashboards.queries import largest, rate, share, total

_CALLS = "rearview_gateway_requests_total"
_REFUSALS = "rearview_gateway_refusals_total"
_DOOR = 'reason=~"CREDENTIAL_.*|ROLE_INSUFFICIENT|NAMESPACE_DENIED|TENANT_DISABLED"'
_BEHIND = ("writer", "retriever", "lifecycle")

TENANCY = Board(
    "tenancy",
    "tenancy",
    [
        Row(
            "At the door",
            [
                rates(
                    "Refused, by reason",
                    _REFUSALS,
                    "reason",
                    _DOOR,
                    description="Many of NAMESPACE_DENIED: an agent's key lacks a grant, or someone tries doors.",
                ),
                Panel(
                    "Share of calls that were refused",
                    [
                        Query(
                            share(f"({rate(_REFUSALS, where=_DOOR)} or vector(0))", rate(_CALLS)),
                            "share",
                        )
                    ],
                    "percentunit",
                ),
                Panel(
                    "Identities that services behind the gateway refused",
                    [Query(rate(f"rearview_{name}_refusals_total", where=_DOOR), name) for name in _BEHIND],
                    "ops",
                    "Anything but nothing here means that keys differ between services, or that someone is inside.",
                ),
                rates(
                    "Administration",
                    _CALLS,
                    "method",
                    'method=~".*(Tenant|ApiKey|Namespace|Policy|Access|Subscri.*)s?"',
                ),
            ],
        ),
        Row(
            "Sharing",
            [
                Panel(
                    "Tenants that called in a minute",
                    [Query(largest("rearview_gateway_tenants_active"), "tenants, at the replica that saw most")],
                ),
                Panel(
                    "Calls of the busiest tenants in a minute, by rank",
                    [Query(total("rearview_gateway_tenant_calls", "rank"), "rank {{rank}}")],
                    description="Each replica ranks for itself. Its log names a tenant that makes most calls.",
                ),
                Panel(
                    "The busiest tenant's part",
                    [
                        Query(
                            share(
                                total("rearview_gateway_tenant_calls", where='rank="1"'),
                                total("rearview_gateway_tenant_calls"),
                            ),
                            "of the five busiest",
                        )
                    ],
                    "percentunit",
                ),
                rates(
                    "Refused for load",
                    _REFUSALS,
                    "reason",
                    'reason=~"OVERLOADED|QUOTA_EXCEEDED|RATE_LIMITED"',
                ),
                rates("Calls over a rate limit, by whose it was", "rearview_gateway_rate_limited_total", "limit_of"),
                Panel(
                    "Calls held against a replica's own buckets",
                    [Query(rate("rearview_gateway_rate_limits_local_total"), "calls")],
                    "ops",
                    "Redis being away, each replica allows a tenant its whole rate.",
                ),
            ],
        ),
    ],
)
