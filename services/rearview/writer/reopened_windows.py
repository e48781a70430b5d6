"""Windows that another model's vectors opened, opened anew with this model's."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from rearview.domain.context_window import OpenWindows, alone
from rearview.domain.event import Event
from rearview.domain.turn_text import unit_text
from rearview.ports.analyzer import Analyzer
from rearview.ports.embedder import Embedder


async def reopened(
    windows: OpenWindows, events: Sequence[Event], embedder: Embedder, analyzer: Analyzer
) -> OpenWindows:
    """Return the windows with vectors of the embedder's generation; `events` are their turns, in order.

    What came before the first of them is not in its window any more, and keywords are what they were.

    Raises:
        ModelUnavailable: the embedder cannot answer.
    """
    analyses = await asyncio.to_thread(
        analyzer.analyze_batch,
        [event.searchable_text for event in events],
        references=[event.occurred_at for event in events],
        roles=[event.role.name.lower() for event in events],
    )
    texts = [unit_text(event, found.languages) for event, found in zip(events, analyses, strict=True)]
    plain = embedder.generation.centre(await embedder.embed_passages(texts))
    made = OpenWindows()
    for turn, vector in zip(windows.turns, plain, strict=True):
        made, _ = made.extended(
            alone(turn.unit_id, turn.memory_id, turn.sequence, vector, turn.own_keywords, asks=turn.asks)
        )
    return OpenWindows(tuple(replace(new, bag=old.bag) for new, old in zip(made.turns, windows.turns, strict=True)))
