"""What a client is sent again after its connection broke."""

from mcp.server import Server
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCNotification

from rearview.mcp_adapter.resumption import ResumableSessionManager, SessionEvents


def message(number: int) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method=f"notifications/{number}")


async def replayed(events: SessionEvents, last: str) -> tuple[str | None, list[str]]:
    sent: list[str] = []

    async def send(event: EventMessage) -> None:
        assert isinstance(event.message, JSONRPCNotification)
        sent.append(event.message.method)

    return await events.replay_events_after(last, send), sent


async def test_what_came_later_on_the_same_stream_is_sent_again() -> None:
    events = SessionEvents()
    first = await events.store_event("a", None)
    await events.store_event("b", message(1))
    await events.store_event("a", message(2))
    await events.store_event("a", message(3))
    assert await replayed(events, first) == ("a", ["notifications/2", "notifications/3"])


async def test_what_is_not_kept_any_more_is_not_guessed() -> None:
    events = SessionEvents(limit=2)
    first = await events.store_event("a", message(1))
    for number in range(2, 4):
        await events.store_event("a", message(number))
    assert await replayed(events, first) == (None, [])


async def test_sessions_share_no_events() -> None:
    manager = ResumableSessionManager(Server("test"))
    one, other = manager.event_store, manager.event_store
    assert one is not None
    assert other is not None
    mine = await one.store_event("1", None)
    await one.store_event("1", message(1))
    await other.store_event("1", None)
    assert isinstance(other, SessionEvents)
    assert await replayed(other, mine) == ("1", [])
