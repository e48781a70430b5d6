"""The Python client, blocking and asynchronous.

    with Client.connect("localhost:50051", api_key) as client:
        with client.session("chat-1") as session:
            session.user("我的预算改成一万二了")
        print(client.recall("what is the budget now?").context)

Answers are the messages of `rearview.v1`, documented field by field in `protos/`. Failures are the errors of
`rearview.domain.errors`.
"""

from rearview.client.asynchronous import AsyncClient, AsyncSession
from rearview.client.blocking import Client, Session
from rearview.client.turn import ToolCall, Turn
from rearview.client.values import memory_filter

__all__ = ["AsyncClient", "AsyncSession", "Client", "Session", "ToolCall", "Turn", "memory_filter"]
