"""From what value on a memory has fallen; apart from how it is valued, which needs numpy."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class FallRule:
    """What has fallen: values below `floor`, of memories of less than a priority that were last used, and came to their
    tier, at `cutoff` or before. `now` is the moment at which ages are taken."""

    floor: float
    below_priority: float
    cutoff: datetime
    now: datetime
