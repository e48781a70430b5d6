"""Resources: a namespace's recent memories, and the working memory of a session."""

import json
import re
from urllib.parse import unquote

import mcp_types as types

from rearview.client import AsyncClient
from rearview.domain.errors import invalid_field
from rearview.mcp_adapter.answers import Json, memory_json, time_json, turn_json

RECENT_MEMORIES = 20
JSON_TYPE = "application/json"

_MEMORIES = "rearview://namespaces/{namespace}/memories"
_WORKING_MEMORY = "rearview://namespaces/{namespace}/sessions/{session}/working-memory"
_URI = re.compile(
    r"rearview://namespaces/(?P<namespace>[^/?#]+)/(?:(?P<memories>memories)|sessions/(?P<session>[^/?#]+)/working-memory)"
)


def resources_of(namespace: str) -> list[types.Resource]:
    """Return the resources that are known without asking: the recent memories of the caller's default namespace."""
    return [
        types.Resource(
            uri=_MEMORIES.replace("{namespace}", namespace),
            name="recent-memories",
            title="Recent memories",
            description=f"The {RECENT_MEMORIES} newest memories of the namespace, newest first.",
            mime_type=JSON_TYPE,
        )
    ]


def templates() -> list[types.ResourceTemplate]:
    """Return the templates of all resources."""
    return [
        types.ResourceTemplate(
            uri_template=_MEMORIES,
            name="recent-memories",
            title="Recent memories of a namespace",
            description=f"The {RECENT_MEMORIES} newest memories, newest first.",
            mime_type=JSON_TYPE,
        ),
        types.ResourceTemplate(
            uri_template=_WORKING_MEMORY,
            name="working-memory",
            title="Working memory of a session",
            description="The last turns of a conversation, oldest first.",
            mime_type=JSON_TYPE,
        ),
    ]


async def read_resource(client: AsyncClient, uri: str) -> types.ReadResourceResult:
    """Return a resource's content as JSON.

    Raises:
        InvalidFields: the URI is of no resource here.
        RearviewError: what the gateway answered.
    """
    found = _URI.fullmatch(uri)
    if found is None:
        raise invalid_field("uri", f"expected {_MEMORIES} or {_WORKING_MEMORY}")
    namespace, session = unquote(found["namespace"]), unquote(found["session"] or "")
    content = await _working_memory(client, namespace, session) if session else await _recent(client, namespace)
    text = json.dumps(content, ensure_ascii=False)
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=text)])


async def _recent(client: AsyncClient, namespace: str) -> Json:
    memories: list[Json] = []
    async for memory in client.list_memories(namespace=namespace, page_size=RECENT_MEMORIES):
        memories.append(memory_json(memory))
        if len(memories) == RECENT_MEMORIES:
            break
    return {"namespace": namespace, "memories": memories}


async def _working_memory(client: AsyncClient, namespace: str, session: str) -> Json:
    memory = await client.working_memory(session, namespace=namespace)
    return {
        "namespace": namespace,
        "session": session,
        "turns": [turn_json(turn.event) | {"importance": round(turn.importance, 4)} for turn in memory.turns],
        "expire_time": time_json(memory.expire_time),
    }
