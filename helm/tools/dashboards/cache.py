"""What the semantic cache of answers gives, and why it does not."""

from helm.tools.dashboards.panels import Board, Panel, Query, Row
from helm.tools.dashboards.parts import rates
from helm.tools.dashboards.queries import rate, share, total

_LOOKUPS = "rearview_gateway_cache_lookups_total"
_HITS = 'outcome=~"exact|canonical|semantic"'

CACHE = Board(
    "cache",
    "cache of answers",
    [
        Row(
            "Hits",
            [
                Panel(
                    "Recalls answered from the cache",
                    [Query(share(rate(_LOOKUPS, where=_HITS), rate(_LOOKUPS)), "share")],
                    "percentunit",
                ),
                rates(
                    "Recalls, by what the cache did",
                    _LOOKUPS,
                    "outcome",
                    description="exact: the same words. canonical: the same question. semantic: a similar one. bypass: "
                    "what must not be cached. off: the cache or the epochs did not answer.",
                ),
                rates(
                    "Answers at hand that were not given, by guard",
                    "rearview_gateway_cache_rejections_total",
                    "reason",
                    description="added and changed: something was written. cosine and the rest: another question.",
                ),
                Panel(
                    "Connections to Redis",
                    [
                        Query(total("rearview_gateway_pool_in_use", where='pool="redis"'), "in use"),
                        Query(rate("rearview_gateway_pool_failures_total", where='pool="redis"'), "failures a second"),
                    ],
                ),
            ],
        )
    ],
)
