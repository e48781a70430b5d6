"""Rows of forget receipts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rearview.domain.forget import ErasedPlace, ForgetReceipt, ForgetState


def receipt_of(row: Mapping[str, Any]) -> ForgetReceipt:
    """Return the receipt of a row."""
    return ForgetReceipt(
        receipt_id=row["receipt_id"],
        namespace=row["namespace"],
        state=ForgetState(row["state"]),
        memory_ids=tuple(row["memory_ids"]),
        memory_count=len(row["memory_ids"]),
        event_count=len(row["event_ids"]),
        tombstoned_at=row["tombstoned_at"],
        purge_after=row["purge_after"],
        purged_at=row["purged_at"],
        verified_at=row["verified_at"],
        places=tuple(
            ErasedPlace(place["place"], place["count"], datetime.fromisoformat(place["erased_at"]))
            for place in row["places"]
        ),
        digest=row["digest"],
    )
