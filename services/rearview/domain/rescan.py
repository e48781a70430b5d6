"""Rewriting what is stored by the redaction policy of today."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class RescanReceipt:
    """Proof that a pass over every place found nothing more that the policy takes out; it holds no content.

    Attributes:
        policy_version: of the policy that the last pass went by.
        categories: what that one takes out.
        counts: texts that were rewritten, by category and by place.
    """

    operation_id: UUID
    policy_version: int
    categories: tuple[str, ...]
    counts: Mapping[str, int]
    verified_at: datetime

    @property
    def digest(self) -> str:
        """The SHA-256, in hex, over the operation, the policy, and the counts by name, one a line."""
        lines = [str(self.operation_id), f"policy={self.policy_version}", ",".join(self.categories)]
        lines += [f"{name}={count}" for name, count in sorted(self.counts.items())]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()
