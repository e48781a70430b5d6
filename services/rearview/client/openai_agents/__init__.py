"""A session of the OpenAI Agents SDK whose items are the turns of a Rearview session, so that they become memories.

    async with AsyncClient.from_endpoints() as client:
        await Runner.run(agent, "我的预算是一万二", session=RearviewSession(client, "chat-1"))

The SDK asks for no base class, so nothing of it is imported here; the extra `openai-agents` installs the version that
this is tested with.
"""

from rearview.client.openai_agents.session import RearviewSession

__all__ = ["RearviewSession"]
