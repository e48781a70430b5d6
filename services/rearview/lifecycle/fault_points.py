"""Named points at which a test lets the process die, as a power cut would."""

import os
import signal
from collections import Counter
from collections.abc import Mapping

_MOVE = ("warm.moved", "cold.read", "cold.written", "cold.verified", "cold.committed")
_REWRITE = ("rewrite.read", "rewrite.written", "rewrite.verified", "rewrite.committed")
_GARBAGE = ("garbage.erased", "garbage.dropped")
_REHYDRATE = ("rehydrate.warm_moved", "rehydrate.read", "rehydrate.restored")

FAULT_POINTS: Mapping[str, tuple[str, ...]] = {
    "sweep": (
        "sweep.leased",
        "expire.forgotten",
        "events.lapsed",
        *_REHYDRATE[1:],
        *_MOVE,
        *_REWRITE,
        *_GARBAGE,
        "orphans.found",
        "orphans.deleted",
        "sweep.done",
    ),
    "rehydrate": _REHYDRATE,
    "purge": (
        "purge.begun",
        *_REWRITE,
        *_GARBAGE,
        "purge.cold_erased",
        "purge.memories_erased",
        "purge.events_erased",
        "purge.rows_erased",
        "purge.volatile_erased",
        "purge.finished",
        "purge.searched",
        "purge.verified",
    ),
    "seal": ("audit.read", "audit.sealed", "audit.anchored", "audit.watermarked"),
    "erase_namespace": (
        "erasure.leased",
        "erasure.objects_erased",
        "erasure.volatile_erased",
        "erasure.rows_erased",
        "erasure.recorded",
    ),
    "erase_tenant": (
        "tenant.namespaces_erased",
        "tenant.objects_erased",
        "tenant.volatile_erased",
        "tenant.rows_erased",
        "tenant.ended",
    ),
}
"""By what the service does, the points between its steps, each named for the step that has just ended."""

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

RESCAN_POINTS = (
    "rescan.begun",
    "rescan.read",
    "rescan.rewritten",
    "rescan.units_made",
    "rescan.brought_back",
    "rescan.made_cold",
    "rescan.segments_freed",
    "rescan.plain_rewritten",
    "rescan.volatile_erased",
    "rescan.passed",
    "rescan.verified",
)
"""Between the steps of a rescan; those of a rehydration, a cold move and a rewrite lie in it, too."""

RESTORE_POINTS = ("restore.marked", "restore.database_loaded", "restore.objects_loaded", "restore.replayed")
"""Between the steps of a restore from a backup."""


class FaultPoints:
    """Ends the process at one point, if one is named; the configuration of a test names it, no other does."""

    def __init__(self, deadly: str = "") -> None:
        """Take the point's name; with `:n` behind it the process dies when it comes there for the n-th time."""
        self._deadly, _, nth = deadly.partition(":")
        self._nth = int(nth or 1)
        self._reached: Counter[str] = Counter()

    def reach(self, point: str) -> None:
        """Say that a point is reached."""
        if point != self._deadly:
            return
        self._reached[point] += 1
        if self._reached[point] == self._nth:
            os.kill(os.getpid(), signal.SIGKILL)


NO_FAULTS = FaultPoints()
"""At which nothing dies."""
