"""Filling a namespace through the public API, and waiting until its memories are made."""

import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from rearview.client import Client, Turn
from rearview.domain.errors import DeadlineExceeded
from rearview.domain.ids import new_id

TURNS_PER_APPEND = 20
POLL_SECONDS = 0.25
# Indexing is given this long without any progress before an evaluation gives up.
PATIENCE_SECONDS = 120.0

OnProgress: TypeAlias = Callable[[int], None]


def fresh_namespace(client: Client, purpose: str) -> str:
    """Create a namespace that nothing else uses, and return its id."""
    namespace = f"{purpose}-{new_id().hex[-12:]}"
    client.create_namespace(namespace, display_name=f"Made by rearview {purpose}")
    return namespace


def append_session(
    client: Client, namespace: str, session: str, turns: Sequence[Turn], on_turns: OnProgress
) -> list[str]:
    """Append turns in order, end the session, and return the events' names in the order of the turns."""
    names: list[str] = []
    for start in range(0, len(turns), TURNS_PER_APPEND):
        batch = turns[start : start + TURNS_PER_APPEND]
        response = client.append_events(session, batch, namespace=namespace)
        names.extend(event.name for event in response.events)
        on_turns(len(batch))
    client.end_session(session, namespace=namespace)
    return names


def wait_until_indexed(client: Client, namespace: str, on_events: OnProgress) -> None:
    """Return when every event of the namespace has been indexed or dropped; `on_events` gets the count so far.

    Raises:
        DeadlineExceeded: nothing moved for two minutes.
    """
    indexed, moved_at = -1, time.monotonic()
    while True:
        sessions = list(client.list_sessions(namespace=namespace, page_size=1000))
        now_indexed = sum(session.indexed_event_count for session in sessions)
        if now_indexed != indexed:
            indexed, moved_at = now_indexed, time.monotonic()
            on_events(indexed)
        if indexed == sum(session.event_count for session in sessions):
            return
        if time.monotonic() - moved_at > PATIENCE_SECONDS:
            raise DeadlineExceeded(
                f"no event was indexed for {PATIENCE_SECONDS:.0f} s; is the writer running? try `rearview doctor`",
                stage="indexing",
            )
        time.sleep(POLL_SECONDS)
