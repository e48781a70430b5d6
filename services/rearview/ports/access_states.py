"""Whether anything has changed of who may do what in a tenant."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from rearview.ports.epochs import Epoch


@dataclass(frozen=True, slots=True)
class AccessState:
    """What one call has read of its tenant. `version` is another one after every change of a key, a namespace, a grant,
    a subscription or the tenant itself, and never comes back; None where the tenant has none. `epochs` are those of
    the namespaces that were asked for."""

    version: UUID | None = None
    epochs: Mapping[UUID, Epoch] = field(default_factory=dict)


class AccessStates(Protocol):
    """Reads them."""

    async def now(self, tenant_id: UUID, namespace_ids: Collection[UUID]) -> AccessState:
        """Return the state as of one moment after this was called: a change that was acknowledged before is in it.

        Raises:
            Unavailable: the store does not answer.
        """
        ...
