"""Showing what redaction replaced, to whoever may see it and says why."""

import re
from datetime import datetime
from uuid import UUID

from rearview.domain.errors import FeatureNotOffered, PreconditionFailed
from rearview.domain.names import EventName, MemoryName
from rearview.domain.principal import Scope
from rearview.domain.redaction import Original, Sealed
from rearview.domain.text import DEFAULT_CATEGORIES
from rearview.ports.clock import Clock
from rearview.ports.redactor import Redactor
from rearview.ports.sealing import OriginalStore, SealBroken, Sealer


class RevealRedacted:
    """Opens the sealed originals of an event or a memory. Every look is audited, also one that finds nothing kept."""

    def __init__(self, originals: OriginalStore, sealer: Sealer | None, redactor: Redactor, clock: Clock) -> None:
        self._originals = originals
        self._sealer = sealer
        self._redactor = redactor
        self._clock = clock

    async def reveal(self, scope: Scope, name: EventName | MemoryName, reason: str) -> str:
        """Return the text as it was written.

        A memory made of turns is shown as it stands, with the values of its turns in the place of their placeholders.

        Raises:
            FeatureNotOffered: no key of the vault is configured.
            NotFound: there is no such event or memory, or it was forgotten.
            PreconditionFailed: nothing was kept of it, or its key is gone.
            Unavailable: the store does not answer.
        """
        sealer = self._sealer
        if sealer is None:
            raise FeatureNotOffered("no key of the vault is configured, so nothing is kept", feature="redaction_vault")
        why = self._redactor.redact(reason, DEFAULT_CATEGORIES).text
        sealed = await self._sealed(scope, name, why, self._clock.now())
        content, own, events = sealed
        try:
            if own is not None:
                return sealer.open(scope.tenant_id, _resource_id(name), own).content
            opened = [sealer.open(scope.tenant_id, event_id, one) for event_id, one in events]
        except SealBroken as error:
            raise PreconditionFailed(str(error), resource_name=str(name), state="SEAL_BROKEN") from error
        if not opened:
            raise PreconditionFailed(
                "nothing that redaction replaced is kept of it", resource_name=str(name), state="NOT_KEPT"
            )
        return _restored(content, opened)

    async def _sealed(
        self, scope: Scope, name: EventName | MemoryName, reason: str, now: datetime
    ) -> tuple[str, Sealed | None, tuple[tuple[UUID, Sealed], ...]]:
        if isinstance(name, EventName):
            found = await self._originals.of_event(scope, name.session, name.event, reason, now)
        else:
            found = await self._originals.of_memory(scope, name.memory, reason, now)
        return found.content, found.own, found.events


def _resource_id(name: EventName | MemoryName) -> UUID:
    return name.event if isinstance(name, EventName) else name.memory


def _restored(content: str, originals: list[Original]) -> str:
    values: dict[str, str] = {}
    for original in originals:
        for placeholder, value in original.values.items():
            values.setdefault(placeholder, value)
    # One pass, so that a value that looks like a placeholder is not replaced in its turn.
    return re.sub("|".join(map(re.escape, values)), lambda match: values[match.group()], content)
