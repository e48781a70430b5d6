"""The namespace that all documents speak of, without what one of them has put there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rearview.client import Client
from tests.support.supervised_stack import SupervisedStack


@contextmanager
def left_as_found(stack: SupervisedStack) -> Iterator[None]:
    """Forget at the end of the block which sessions and memories it has added to the default namespace."""
    endpoints = stack.endpoints()
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    with Client.connect(endpoints.gateway, endpoints.admin_key, timeout_seconds=60.0) as client:
        sessions = {session.name for session in client.list_sessions()}
        memories = {memory.name for memory in client.list_memories()}
        yield
        for session in [one.name for one in client.list_sessions()]:
            if session not in sessions:
                client.forget(session=session.rpartition("/")[2])
        added = [memory.name for memory in client.list_memories() if memory.name not in memories]
        if added:
            client.forget(memories=added)
