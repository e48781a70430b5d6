"""The way of memories: what becomes of turns, jobs behind the answers, tiers, forgetting."""

from helm.tools.dashboards.panels import Board, Panel, Query, Row
from helm.tools.dashboards.parts import rates, tail
from helm.tools.dashboards.queries import largest, rate

LIFECYCLE = Board(
    "lifecycle",
    "lifecycle",
    [
        Row(
            "Writing",
            [
                rates("Turns, by what became of them", "rearview_writer_captures_total", "outcome"),
                rates("Memories by request, by what became of them", "rearview_writer_remembered_total", "outcome"),
                Panel("Values superseded", [Query(rate("rearview_writer_superseded_values_total"), "values")], "ops"),
                rates("Texts redacted, by category", "rearview_writer_redactions_total", "category"),
                tail("Embedding, 95th percentile", "rearview_writer_embed_seconds", "what"),
                rates("Texts embedded", "rearview_writer_embedded_texts_total", "what"),
                rates("Times that the embedder gave no vectors", "rearview_writer_embed_failures_total", "what"),
                rates(
                    "Texts that rescans rewrote, by place and category",
                    "rearview_lifecycle_rescanned_texts_total",
                    "what",
                ),
            ],
        ),
        Row(
            "Jobs",
            [
                Panel(
                    "Waiting",
                    [Query(largest("rearview_lifecycle_queue_jobs", "task", 'state="waiting"'), "{{task}}")],
                ),
                Panel(
                    "Oldest that waits",
                    [Query(largest("rearview_lifecycle_queue_oldest_seconds", "task"), "{{task}}")],
                    "s",
                    "For how long it has been known to wait; exact to the interval of measuring.",
                ),
                Panel(
                    "Running and scheduled",
                    [Query(largest("rearview_lifecycle_queue_jobs", "state", 'state!="waiting"'), "{{state}}")],
                ),
                Panel("Dead letters", [Query(largest("rearview_lifecycle_dead_letters", "task"), "{{task}}")]),
                Panel(
                    "Attempts that failed",
                    [
                        Query(rate(f"rearview_{service}_job_attempts_total", "task", 'outcome="failed"'), "{{task}}")
                        for service in ("writer", "lifecycle")
                    ],
                    "ops",
                ),
                tail("Duration of the writer's jobs, 95th percentile", "rearview_writer_job_seconds", "task"),
            ],
        ),
        Row(
            "Tiers",
            [
                Panel(
                    "Search units, by tier",
                    [
                        Query(largest("rearview_lifecycle_tier_units", "tier"), "{{tier}}"),
                        Query(largest("rearview_lifecycle_cold_memories"), "cold memories"),
                    ],
                    description="The database's own counts, which may be some percent off.",
                ),
                Panel(
                    "Bytes of tables and indexes, by tier",
                    [Query(largest("rearview_lifecycle_tier_bytes", "tier"), "{{tier}}")],
                    "bytes",
                ),
                rates("What sweeps move", "rearview_lifecycle_tier_moves_total", "what"),
                Panel(
                    "Cold segments and memories",
                    [
                        Query(largest("rearview_lifecycle_cold_segments"), "segments"),
                        Query(largest("rearview_lifecycle_memories"), "memories of every tier"),
                    ],
                ),
                rates("Rounds", "rearview_lifecycle_rounds_total", "round, outcome"),
                tail("Duration of sweeps and purges, 95th percentile", "rearview_lifecycle_job_seconds", "task"),
            ],
        ),
        Row(
            "Audit log",
            [
                Panel(
                    "Records sealed", [Query(rate("rearview_lifecycle_audit_records_sealed_total"), "records")], "ops"
                ),
                Panel(
                    "Seals that are not the platform's",
                    [Query(rate("rearview_lifecycle_audit_seals_broken_total"), "times that sealing stopped")],
                    "ops",
                    "Anything but nothing here means that somebody has changed the audit log.",
                ),
            ],
        ),
    ],
)
