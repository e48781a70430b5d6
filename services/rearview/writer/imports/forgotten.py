"""What is left of a memory when some of what it was made of was forgotten."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from rearview.domain.exchange.records import ExportedMemory
from rearview.domain.memory import MemoryType


def left_of(record: ExportedMemory, is_forgotten: Callable[[UUID], bool]) -> tuple[ExportedMemory | None, bool]:
    """Return the memory without what was forgotten, None when it goes with it; and whether it is an episode that must
    be written anew from its other turns."""
    memory = record.memory
    if is_forgotten(memory.memory_id) or (record.source_id is not None and is_forgotten(record.source_id)):
        return None, False
    lost_sources = [source for source in record.sources if is_forgotten(source)]
    if lost_sources and memory.type is MemoryType.SUMMARY:
        return None, False
    own = [link for link in record.links if link.repeats is None]
    lost = {link.event_id for link in record.links if is_forgotten(link.event_id)}
    kept = replace(
        record,
        links=tuple(
            link
            for link in record.links
            if link.event_id not in lost and not (link.repeats is not None and is_forgotten(link.repeats))
        ),
        sources=tuple(source for source in record.sources if source not in lost_sources),
        units=tuple(unit for unit in record.units if unit.unit_id not in lost),
    )
    if not any(link.event_id in lost for link in own):
        # A fact that was made of other memories alone goes with the last of them.
        return (None if record.derived and lost_sources and not kept.sources and not kept.links else kept), False
    if memory.type is MemoryType.FACT and record.source_id is not None:
        return kept, False  # its words are of a turn that is there
    made_of_turns = memory.type is MemoryType.EPISODE and all(unit.unit_id != memory.memory_id for unit in record.units)
    if made_of_turns and any(link.event_id not in lost for link in own):
        return kept, True
    return None, False
