"""Changing a memory: the fields of the mask, and how it is found when its text changes."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from rearview.domain.errors import Conflict, EtagMismatch, NotFound
from rearview.domain.memory import Memory, MemoryType, Tier
from rearview.domain.names import MemoryName
from rearview.domain.principal import Scope
from rearview.domain.redaction import Original
from rearview.domain.writing import UpdateMemory
from rearview.ports.clock import Clock
from rearview.ports.memory_store import MemoryStore, NewMemory
from rearview.ports.stated_facts import StatedFact
from rearview.ports.tiering import Rehydrator
from rearview.redaction.texts import Redaction, RedactionParts, redacted_memory
from rearview.writer.facts.turn_facts import FactMaker
from rearview.writer.remember import ReadText, TextReader, projected

_MOST_ATTEMPTS = 5
_PLAIN_FIELDS = ("priority", "pinned", "labels", "metadata", "occurred_at", "valid_from", "valid_to")


class MemoryUpdater:
    """The use case of `UpdateMemory`."""

    def __init__(
        self,
        store: MemoryStore,
        reader: TextReader,
        redaction: RedactionParts,
        rehydrator: Rehydrator,
        facts: FactMaker,
        clock: Clock,
    ) -> None:
        self._store = store
        self._reader = reader
        self._redaction = redaction
        self._facts = facts
        self._rehydrator = rehydrator
        self._clock = clock

    async def update(self, scope: Scope, command: UpdateMemory) -> Memory:
        """Change a memory and return it. With an etag, only the version it names; without, the last write wins.

        Raises:
            NotFound: there is no such memory, it was forgotten, or its time has run out and is not what changes.
            EtagMismatch: the memory is of another version.
            Conflict: it kept changing.
            InvalidFields: the metadata is nested too deep.
            RequestIdReused: the request id stands for another request.
            ModelUnavailable, Unavailable: repeat the request.
        """
        if command.request:
            done = await self._store.updated_before(scope, command.request)
            if done is not None:
                return done
        policy = await self._redaction.policies.redaction(scope.tenant_id)
        redaction = Redaction(self._redaction.redactor, policy.categories)
        redacted = await asyncio.to_thread(redacted_memory, command, redaction)
        sealer = self._redaction.sealer_for(policy) if redaction.found else None
        text: ReadText | None = None
        for _ in range(_MOST_ATTEMPTS):
            before = await self._store.get(scope, command.memory_id)
            if "expire_time" not in command.mask and _ended(before, self._clock.now()):
                raise NotFound(
                    "the memory's time has run out; give it another expire_time to keep it",
                    resource_name=str(MemoryName(scope.namespace, command.memory_id)),
                )
            if command.etag and command.etag != before.etag:
                raise EtagMismatch(
                    "the memory was changed since its etag was read",
                    resource_name=str(MemoryName(scope.namespace, command.memory_id)),
                )
            if before.tier is not Tier.HOT:  # what is written is hot, and a cold memory's text is not here
                await self._rehydrator.rehydrate(scope.tenant_id, scope.namespace_id, [command.memory_id])
                before = await self._store.get(scope, command.memory_id)
            moment = redacted.occurred_at if "occurred_at" in command.mask else before.occurred_at
            if "content" in command.mask and text is None:
                text = (await self._reader.read(scope, [redacted.content], [moment or before.occurred_at]))[0]
            now = self._clock.now()
            after = self._changed(before, redacted, redaction.found, text, now)
            projection: NewMemory | None = None
            facts: tuple[StatedFact, ...] = ()
            if text is not None:
                after, facts = await self._stated(scope, after, text, now)
                projection = await projected(self._store, scope, after, text)
                if sealer is not None:
                    original = Original(command.content, redaction.values)
                    projection = replace(projection, original=sealer.seal(scope.tenant_id, command.memory_id, original))
            try:
                return await self._store.update(
                    scope, before, after, projection=projection, request=command.request, now=now, facts=facts
                )
            except Conflict:
                continue
        raise Conflict(
            "the memory kept changing; repeat the request",
            retry_after_seconds=0.5,
            resource_name=str(MemoryName(scope.namespace, command.memory_id)),
        )

    async def _stated(
        self, scope: Scope, after: Memory, text: ReadText, now: datetime
    ) -> tuple[Memory, tuple[StatedFact, ...]]:
        """Return the memory and what its new text states; made now, so that it takes the place of what was known.

        A fact says what its text says. Where that states nothing that can be read, the fact stays as long as its value
        is named; else the memory is a text and no fact.
        """
        moment = replace(after, occurred_at=now)
        if after.fact is not None and after.type is not MemoryType.SUMMARY:
            restated = await self._facts.of_new_wording(scope, moment, text.analysis, now)
            if restated is not None:
                return after, (restated,)
            named = after.fact.value.casefold() in after.content.casefold()
            return (after if named else replace(after, fact=None)), ()
        if after.event_ids or after.fact is not None:
            return after, ()  # what turns said is not unsaid by a better wording of it
        return after, await self._facts.of_memory(scope, moment, text.analysis, now)

    def _changed(
        self, before: Memory, command: UpdateMemory, categories: tuple[str, ...], text: ReadText | None, now: datetime
    ) -> Memory:
        mask = command.mask
        values: dict[str, Any] = {name: getattr(command, name) for name in _PLAIN_FIELDS if name in mask}
        if "expire_time" in mask:
            values["expires_at"] = command.expires_at
        values["redactions"] = tuple(dict.fromkeys((*before.redactions, *categories)))
        if text is not None:
            values |= _of_text(command, text)
            values["entities"] = self._reader.entities(command.entities if "entities" in mask else (), text.analysis)
        elif "entities" in mask:
            values["entities"] = self._reader.named(command.entities)
        return replace(before, updated_at=now, **values)


def _ended(memory: Memory, now: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= now


def _of_text(command: UpdateMemory, text: ReadText) -> Mapping[str, Any]:
    return {
        "content": command.content,
        "intent": text.analysis.intent,
        "sentiment": text.analysis.sentiment,
        "languages": text.analysis.languages,
    }
