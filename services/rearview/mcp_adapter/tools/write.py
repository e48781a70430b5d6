"""memory_write: store one memory."""

from rearview.client import AsyncClient
from rearview.domain.memory import MAX_ENTITIES, MAX_LABELS, MemoryType
from rearview.mcp_adapter.answers import MEMORY_SCHEMA, TEXT, TEXTS, Json, answer_schema, memory_json
from rearview.mcp_adapter.fields import Choice, Labels, Many, Moment, Number, Text
from rearview.mcp_adapter.tool import NAMESPACE, SESSION, Arguments, Hints, Tool
from rearview.v1.memory_service_pb2 import RememberOutcome

TYPES = [kind.name.lower() for kind in MemoryType]
ENTITIES = Many(
    description='Names the text is about, for example ["Li Lei", "A2026-0815"]; found by the service when left out.',
    of=Text(description="A name as it is written."),
    high=MAX_ENTITIES,
)
LABELS = Labels(description=f'Up to {MAX_LABELS} labels to filter by: [{{"key": "project", "value": "apollo"}}].')
PRIORITY = Number(description="Importance from 0 to 1. Default 0.5; at 0.9 and above it does not fade.", low=0, high=1)


async def _write(client: AsyncClient, given: Arguments) -> Json:
    answer = await client.remember(
        given["content"],
        type=given.get("type", "explicit"),
        priority=given.get("priority", 0.5),
        labels=given.get("labels"),
        entities=given.get("entities", ()),
        occurred_at=given.get("timestamp"),
        session=given.get("session"),
        namespace=given.get("namespace"),
    )
    return {
        "outcome": RememberOutcome.Name(answer.outcome).removeprefix("REMEMBER_OUTCOME_").lower(),
        "memory": memory_json(answer.memory),
        "related": [name.rpartition("/")[2] for name in answer.related],
    }


WRITE = Tool(
    name="memory_write",
    title="Remember something",
    description=(
        "Store one lasting statement: a preference, an attribute, a constraint, a decision, an order number, or what "
        "the user asked to be remembered. Write it as a full sentence that is understood without the conversation. "
        "Do not store greetings, small talk, one-off wishes or general knowledge; to replace what is stored already, "
        'use memory_update. Example: {"content": "The user is allergic to peanuts.", "type": "constraint", '
        '"priority": 0.9}. Writing the same again changes nothing (outcome "redundant", or "merged" in other words).'
    ),
    takes={
        "content": Text(
            description='The statement, at most 32,768 characters, for example "我喜欢喝美式咖啡。"', required=True
        ),
        "type": Choice(description='What it is. Default "explicit".', of=TYPES),
        "priority": PRIORITY,
        "entities": ENTITIES,
        "timestamp": Moment(
            description='When it was said or happened: "2026-08-15T10:30:00+08:00", "2026-08-15", or Unix seconds or '
            "milliseconds. Default now."
        ),
        "session": SESSION,
        "namespace": NAMESPACE,
        "labels": LABELS,
    },
    answers=answer_schema({"outcome": TEXT, "memory": MEMORY_SCHEMA, "related": TEXTS}),
    hints=Hints(idempotent=True),
    run=_write,
)
