"""memory_update: change a memory."""

from rearview.client import AsyncClient
from rearview.domain.errors import invalid_field
from rearview.mcp_adapter.answers import MEMORY_SCHEMA, Json, answer_schema, memory_json
from rearview.mcp_adapter.fields import Flag, Moment, Text
from rearview.mcp_adapter.tool import NAMESPACE, Arguments, Hints, Tool
from rearview.mcp_adapter.tools.write import ENTITIES, LABELS, PRIORITY

# The argument of the tool, and the field of the API.
_CHANGES = {
    "content": "content",
    "priority": "priority",
    "pinned": "pinned",
    "labels": "labels",
    "entities": "entities",
    "timestamp": "occurred_at",
}


async def _update(client: AsyncClient, given: Arguments) -> Json:
    changes = {field: given[argument] for argument, field in _CHANGES.items() if argument in given}
    if not changes:
        raise invalid_field("content", f"nothing to change: give at least one of {', '.join(_CHANGES)}")
    updated = await client.update_memory(
        given["memory"], changes, etag=given.get("etag", ""), namespace=given.get("namespace")
    )
    return {"memory": memory_json(updated)}


UPDATE = Tool(
    name="memory_update",
    title="Correct or change a memory",
    description=(
        "Change a memory that has become wrong or whose value is new. Find its id with memory_search first, and send "
        'the whole new text. Do not use it for a one-off wish ("today I\'d like a latte"). Example: '
        '{"memory": "01890f3e-...", "content": "用户现在喜欢喝拿铁。"}. With `etag` the change is refused if somebody '
        "else changed it meanwhile."
    ),
    takes={
        "memory": Text(description="The memory's id, as a hit of memory_search gives it.", required=True),
        "content": Text(description='The whole new text, for example "The budget is now 12,000 yuan."'),
        "priority": PRIORITY,
        "pinned": Flag(description="A pinned memory does not fade and never expires."),
        "labels": LABELS,
        "entities": ENTITIES,
        "timestamp": Moment(description='When it was said or happened, for example "2026-08-15T10:30:00+08:00".'),
        "etag": Text(description="The memory's etag as it was read; leave it out to change it whatever it is now."),
        "namespace": NAMESPACE,
    },
    answers=answer_schema({"memory": MEMORY_SCHEMA}),
    hints=Hints(destructive=True, idempotent=True),
    run=_update,
)
