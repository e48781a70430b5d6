"""Named points at which a test lets the process die, as a power cut would."""

import os
import signal

FAULT_POINTS = (
    "warm.moved",
    "cold.read",
    "cold.written",
    "cold.verified",
    "cold.committed",
    "rewrite.read",
    "rewrite.written",
    "rewrite.verified",
    "rewrite.committed",
    "garbage.erased",
)
"""Between the steps of a move."""

SEAL_POINTS = ("audit.read", "audit.sealed", "audit.anchored")
"""Between the steps of sealing the audit log."""

REEMBED_POINTS = (
    "reembed.cleared",
    "reembed.read",
    "reembed.embedded",
    "reembed.stored",
    "reembed.merged",
    "reembed.filled",
    "reembed.caught_up",
    "reembed.served",
)
"""Between the steps of a re-embedding; those of a rewrite lie in it, too."""


class FaultPoints:
    """Ends the process at one point, if one is named; the configuration of a test names it, no other does."""

    def __init__(self, deadly: str = "") -> None:
        self._deadly = deadly

    def reach(self, point: str) -> None:
        """Say that a point is reached."""
        if point == self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)
