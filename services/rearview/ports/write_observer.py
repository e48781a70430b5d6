"""The port to whoever counts what writes have led to. It is told after a commit, and of numbers and kinds only."""

from collections.abc import Collection
from typing import Protocol

from rearview.domain.event import CaptureOutcome
from rearview.domain.writing import RememberOutcome


class WriteObserver(Protocol):
    """Is told what was committed; must neither fail nor wait."""

    def captured(self, outcomes: Collection[CaptureOutcome]) -> None:
        """What became of each turn of a batch."""
        ...

    def remembered(self, outcome: RememberOutcome) -> None:
        """What became of one memory by request."""
        ...

    def superseded(self, count: int) -> None:
        """So many values ceased to hold because of newer ones."""
        ...


class NoObserver:
    """Counts nothing."""

    def captured(self, outcomes: Collection[CaptureOutcome]) -> None:
        """Pass over it."""

    def remembered(self, outcome: RememberOutcome) -> None:
        """Pass over it."""

    def superseded(self, count: int) -> None:
        """Pass over it."""
