"""What may be said of a job's failure: enough to find the cause, nothing that could be content."""

import traceback
from pathlib import PurePath

from rearview.domain.errors import RearviewError

_LONGEST = 500
_MOST_IN_GROUP = 3


class JobFailed(Exception):
    """Stands for a handler's exception where its text must not go."""

    def __init__(self, description: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(description)
        self.retry_after_seconds = retry_after_seconds


def describe(error: BaseException) -> str:
    """Return reason and message of a domain error (their messages hold no content), else the type and the place."""
    if isinstance(error, BaseExceptionGroup):
        parts = [describe(part) for part in error.exceptions[:_MOST_IN_GROUP]]
        return "; ".join(parts)[:_LONGEST]
    if isinstance(error, RearviewError):
        return f"{error.reason}: {error.message}"[:_LONGEST]
    frames = traceback.extract_tb(error.__traceback__)
    # The innermost frame of our own code says more than one deep inside a driver.
    own = [frame for frame in frames if "rearview" in PurePath(frame.filename).parts] or list(frames)
    place = f" at {PurePath(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    return f"{type(error).__name__}{place}"
