"""Reading of turns into facts, entities, intent and sentiment, by rules or by a model."""

from typing import Protocol

from rearview.domain.extraction import Extraction, ExtractionRequest


class FactSource(Protocol):
    """Reads a few turns together. Every reading says who made it."""

    async def read(self, request: ExtractionRequest) -> Extraction:
        """Return one reading for each turn of the request, in order.

        Only what users say of themselves becomes facts about them, whatever other turns claim.

        Raises:
            ModelUnavailable: a model was to read and could not; nothing was read, retry.
        """
        ...

    async def close(self) -> None:
        """Release connections. Closing twice is harmless."""
        ...
