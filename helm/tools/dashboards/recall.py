"""How good and how fast recall is, and where its time goes."""

from helm.tools.dashboards.panels import Board, Panel, Query, Row
from helm.tools.dashboards.parts import quantiles, rates, tail
from helm.tools.dashboards.queries import mean, quantile, rate, share, total

_TRACES = "rearview_retriever_recall_returned"

RECALL = Board(
    "recall",
    "recall",
    [
        Row(
            "Quality",
            [
                Panel(
                    "What the vector index finds of an exact search",
                    [Query(mean("rearview_retriever_recall_index_vs_exact", "k"), "recall@{{k}}")],
                    "percentunit",
                    "Sampled recalls, compared. Below .95 the index wants other settings, or a rebuild.",
                ),
                Panel(
                    "Recalls that return nothing",
                    [Query(share(rate("rearview_retriever_recalls_empty_total"), rate(f"{_TRACES}_count")), "share")],
                    "percentunit",
                ),
                Panel("Memories in an answer", [Query(mean(_TRACES), "mean")]),
                rates(
                    "Recalls that left a part out",
                    "rearview_retriever_recall_degraded_total",
                    "part",
                    description="For want of time, or because what makes the part was away.",
                ),
                rates(
                    "Candidates, by route",
                    "rearview_retriever_recall_route_candidates_total",
                    "route",
                    description="A route that falls silent fails without an error.",
                ),
                rates(
                    "Traces and counts that were lost", "rearview_retriever_side_effects_lost_total", "kind", unit="ops"
                ),
            ],
        ),
        Row(
            "Time",
            [
                quantiles("At the gateway", "rearview_gateway_request_seconds", 'method="Recall"'),
                quantiles("At the retriever", "rearview_retriever_request_seconds", 'method="Recall"'),
                tail("Stages, 95th percentile", "rearview_retriever_recall_stage_seconds", "stage"),
                tail("Embedding, 95th percentile", "rearview_gateway_embed_seconds", "what"),
                rates("Queries, by what became of their vector", "rearview_gateway_query_embeddings_total", "outcome"),
                Panel(
                    "Cross-encoder, where there is one",
                    [
                        Query(quantile(0.95, "rearview_retriever_rerank_seconds"), "p95, seconds", exemplars=True),
                        Query(rate("rearview_retriever_reranked_passages_total", "reached"), "reached: {{reached}}"),
                        Query(rate("rearview_retriever_rerank_failures_total"), "failures a second"),
                    ],
                ),
                Panel(
                    "Embedding queries",
                    [
                        Query(total("rearview_gateway_query_embeddings_pending"), "being embedded"),
                        Query(rate("rearview_gateway_embed_failures_total", "what"), "failures a second: {{what}}"),
                    ],
                ),
            ],
        ),
        Row(
            "Copies of vectors",
            [
                rates(
                    "Vector searches without filters, by what answered",
                    "rearview_retriever_vector_answers_total",
                    "by",
                    description="copy: a copy in the retriever's memory. database: the index, or an exact scan, where "
                    "a namespace is small, seldom asked or too large for a copy.",
                ),
                Panel(
                    "Bytes that copies take",
                    [Query(total("rearview_retriever_vector_copies_bytes", "instance"), "{{instance}}")],
                    "bytes",
                    "Near vectorCopiesMegabytes copies push each other out: more of it, and of the container's memory.",
                ),
                Panel(
                    "Namespaces that have a copy",
                    [Query(total("rearview_retriever_vector_copies", "instance"), "{{instance}}")],
                ),
            ],
        ),
    ],
)
