"""The lifecycle's configuration, from the environment."""

from pydantic import Field, SecretStr

from rearview.rpc.service_config import EmbedderConfig, ObjectStorageConfig, SecretKey, ServiceConfig, VaultConfig
from rearview.rpc.settings import Listen


class LifecycleConfig(EmbedderConfig, VaultConfig, ObjectStorageConfig, ServiceConfig):
    """Read once; the variables carry the prefix `REARVIEW_`.

    Attributes:
        max_connections: of each of the two pools, that of calls and that of jobs and rounds.
        redis_url: Redis or Valkey, for working memory and access counts.
        redis_seconds: how long one operation on Redis may take.
        worker_concurrency: how many jobs run at a time.
        purge_batch: how many memories or events are erased in one transaction.
        job_attempts: how often a job is tried; purges that ended as dead letters are taken up again by a round.
        drain_counts_seconds: how often access counts are added to the memories' statistics.
        expire_seconds: how often outcomes of old requests and old recall traces are deleted.
        upkeep_seconds: how often work that was left behind is looked for.
        session_silent_minutes: a session without news for so long is closed, should its own job have been lost.
        units_unmerged_minutes: closed search units older than this are merged, should their own job have been lost.
        purge_overdue_minutes: a purge so long overdue is taken up again.
        measure_seconds: how often the queue and the tiers are measured for the metrics.
        sweep_minutes: how often a namespace is swept.
        sweep_memories: how many memories one pass moves at most; the next goes on.
        sweep_step: how many memories move in one transaction.
        lease_seconds: a worker that is silent for so long loses the namespace that it sweeps.
        orphan_minutes: objects older than this that no catalog names are deleted; longer than any move takes.
        erasure_settle_seconds: a deleted namespace, and what a stricter redaction policy rewrites, is looked through
            once more so long after; longer than a request takes.
        reembed_units: how many search units are embedded and stored at once.
        reembed_catch_up_seconds: how often units are looked for that have changed since they were embedded.
        generation_kept_minutes: what a superseded model generation left is dropped so long after, when nothing needs
            it; longer than writers of two models run side by side.
        audit_key: seals the audit log; 32 bytes or more that no other service has. Without it nothing is sealed and
            VerifyAudit is not offered.
        seal_seconds: how often audit records are sealed.
        seal_lag_minutes: records are sealed when they are so old; longer than clocks differ and transactions take.
        fault_point: where the process dies, and with `:n` behind it at which time it comes there; for tests only.
    """

    listen: Listen = "127.0.0.1:50054"
    max_connections: int = Field(default=4, ge=1, le=1_000)
    redis_url: SecretStr
    redis_seconds: float = Field(default=2.0, gt=0, le=60)
    worker_concurrency: int = Field(default=2, ge=1, le=100)
    purge_batch: int = Field(default=200, ge=1, le=10_000)
    job_attempts: int = Field(default=15, ge=1, le=1_000)
    drain_counts_seconds: float = Field(default=10.0, gt=0, le=86_400)
    expire_seconds: float = Field(default=600.0, gt=0, le=86_400)
    upkeep_seconds: float = Field(default=60.0, gt=0, le=86_400)
    session_silent_minutes: float = Field(default=10.0, gt=0, le=100_000)
    units_unmerged_minutes: float = Field(default=10.0, gt=0, le=100_000)
    purge_overdue_minutes: float = Field(default=15.0, gt=0, le=100_000)
    measure_seconds: float = Field(default=15.0, gt=0, le=3_600)
    sweep_minutes: float = Field(default=60.0, gt=0, le=100_000)
    sweep_memories: int = Field(default=50_000, ge=1, le=10_000_000)
    sweep_step: int = Field(default=500, ge=1, le=10_000)
    lease_seconds: float = Field(default=60.0, ge=1, le=3_600)
    orphan_minutes: float = Field(default=60.0, ge=0, le=100_000)
    erasure_settle_seconds: float = Field(default=60.0, ge=0, le=86_400)
    reembed_units: int = Field(default=64, ge=1, le=1_000)
    reembed_catch_up_seconds: float = Field(default=0.5, gt=0, le=3_600)
    generation_kept_minutes: float = Field(default=1_440.0, ge=0, le=100_000)
    audit_key: SecretKey | None = None
    seal_seconds: float = Field(default=30.0, gt=0, le=86_400)
    seal_lag_minutes: float = Field(default=10.0, ge=0, le=1_440)
    fault_point: str = ""
    max_concurrent_calls: int = Field(default=100, ge=1, le=100_000)
