"""The session: the SDK's operations as calls of the client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from rearview.client.asynchronous import AsyncClient
from rearview.client.openai_agents.items import item_of, size_bytes, turn_of
from rearview.client.turn import Turn
from rearview.domain.errors import Conflict, NotFound
from rearview.domain.event import MAX_APPEND_BYTES, MAX_EVENTS_PER_APPEND

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory import SessionSettings

_MOST_ATTEMPTS = 5
_PAGE = 50


class RearviewSession:
    """One conversation of an agent, by the id of a Rearview session. Items come back as they were added, but redacted.

    Turns that others appended to the session are items, too, where they are messages. Operations raise the errors of
    `rearview.domain.errors`.
    """

    def __init__(
        self,
        client: AsyncClient,
        session_id: str,
        *,
        namespace: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client = client
        self._namespace = namespace

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, or the latest `limit` of them, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit <= 0:
            return []
        found = []
        async for _, item in self._newest_first(_PAGE if limit is None else min(limit, _PAGE)):
            found.append(item)
            if len(found) == limit:
                break
        return found[::-1]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items. When it returns they survive any crash.

        Raises:
            InvalidFields: an item is not JSON or too large; nothing was added.
        """
        called: dict[str, str] = {}
        turns = [turn_of(cast("dict[str, Any]", item), f"items[{at}]", called) for at, item in enumerate(items)]
        for part in _appends(turns):
            await self._client.append_events(self.session_id, part, namespace=self._namespace)

    async def pop_item(self) -> TResponseInputItem | None:
        """Forget the latest item and return it; None when there is none."""
        for _ in range(_MOST_ATTEMPTS):
            async for name, item in self._newest_first(1):
                with suppress(NotFound):  # popped by another at the same moment
                    await self._client.forget(events=[name], reason="popped", namespace=self._namespace)
                    return item
                break
            else:
                return None
        raise Conflict("others kept popping; repeat the request", retry_after_seconds=0.5)

    async def clear_session(self) -> None:
        """Forget the session with everything that was made of it."""
        with suppress(NotFound):
            await self._client.forget(session=self.session_id, reason="cleared", namespace=self._namespace)

    async def _newest_first(self, page_size: int) -> AsyncIterator[tuple[str, TResponseInputItem]]:
        events = self._client.list_events(
            self.session_id, newest_first=True, page_size=page_size, namespace=self._namespace
        )
        with suppress(NotFound):
            async for event in events:
                item = item_of(event)
                if item is not None:
                    yield event.name, cast("TResponseInputItem", item)


def _appends(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Part turns into what one append takes."""
    parts: list[list[Turn]] = []
    left = 0
    for turn in turns:
        size = size_bytes(turn)
        if not parts or size > left or len(parts[-1]) == MAX_EVENTS_PER_APPEND:
            parts.append([])
            left = MAX_APPEND_BYTES
        parts[-1].append(turn)
        left -= size
    return parts
