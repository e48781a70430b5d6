"""Dead letters: jobs that failed for good, until somebody has them run again."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job that failed. `resource_name` is what it was about, empty where unknown; `error` holds no content."""

    job_id: int
    task: str
    resource_name: str
    error: str
    attempts: int
    failed_at: datetime | None
