"""A memory as it is to be stored: redacted, its placeholders numbered where its session is known."""

import asyncio
from dataclasses import dataclass, replace

from rearview.domain.principal import Scope
from rearview.domain.redaction import Original, RedactionPolicy
from rearview.domain.writing import Remember
from rearview.ports.placeholders import PlaceholderNumbers
from rearview.redaction.placeholders import SessionNaming
from rearview.redaction.texts import Redaction, RedactionParts, redacted_memory
from rearview.redaction.trees import mapped_tree


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A redacted command, the categories that were found in it, and what it said before where that is to be kept."""

    command: Remember
    categories: tuple[str, ...]
    original: Original | None


async def draft_memory(
    parts: RedactionParts, numbers: PlaceholderNumbers, policy: RedactionPolicy, scope: Scope, command: Remember
) -> MemoryDraft:
    """Return the command, redacted; values of a session's memory get the numbers that they have in the session.

    Raises:
        InvalidFields: the metadata is nested too deep.
        Unavailable: the session cannot be read.
    """
    naming = SessionNaming(parts.secret, parts.redactor, scope, command.session_id)
    redaction = Redaction(parts.redactor, policy.categories, naming.name)
    redacted = await asyncio.to_thread(redacted_memory, command, redaction)
    if not redaction.found:
        return MemoryDraft(redacted, (), None)
    known = await numbers.number(scope, command.session_id, naming.keys) if command.session_id else {}
    settle = naming.settle(known)
    settled = replace(
        redacted,
        content=settle(redacted.content),
        labels={settle(key): settle(value) for key, value in redacted.labels.items()},
        metadata=mapped_tree(redacted.metadata, settle),
        entities=tuple(map(settle, redacted.entities)),
    )
    original = None
    if parts.sealer_for(policy) is not None:
        original = Original(command.content, {settle(name): value for name, value in redaction.values.items()})
    return MemoryDraft(settled, redaction.found, original)
