"""Where access counts are kept in Redis. The hash tag keeps a tenant's keys in one slot of a cluster."""

from dataclasses import dataclass
from typing import Literal, Self
from uuid import UUID


@dataclass(frozen=True, slots=True)
class AccessKeys:
    """The keys of one tenant: counts and last accesses by field, the batch on its way to the database, its number."""

    counts: str
    times: str
    draining: str
    number: str

    @classmethod
    def of(cls, tenant_id: UUID) -> Self:
        """Return the keys of a tenant."""
        return cls(f"acc:{{{tenant_id}}}", f"acct:{{{tenant_id}}}", f"accd:{{{tenant_id}}}", f"accn:{{{tenant_id}}}")


def access_field(namespace_id: UUID, memory_id: UUID | Literal["*"]) -> str:
    """Return the field of a memory in the hashes, or the pattern of all of a namespace."""
    return f"{namespace_id}/{memory_id}"
