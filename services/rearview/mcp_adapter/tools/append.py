"""memory_append: record turns of a conversation."""

from typing import Any

from rearview.client import AsyncClient, ToolCall, Turn
from rearview.domain.event import EventRole
from rearview.mcp_adapter.answers import TEXT, TEXTS, Json, answer_schema
from rearview.mcp_adapter.fields import Choice, Fields, Flag, Many, Moment, Text
from rearview.mcp_adapter.tool import NAMESPACE, Arguments, Hints, Tool

MAX_TURNS = 200

TURN = Fields(
    description="One turn.",
    required=True,
    of={
        "role": Choice(
            description="Who speaks.", required=True, of=[role.name.lower() for role in EventRole if role.value]
        ),
        "content": Text(description="What was said; of a tool, what it returned.", required=True),
        "speaker": Text(description="The speaker's name where a role has several."),
        "tool": Text(description="Of role tool: the tool's name."),
        "timestamp": Moment(description='When it was said, for example "2026-08-15T10:30:00+08:00". Default now.'),
    },
)


async def _append(client: AsyncClient, given: Arguments) -> Json:
    session, namespace = given["session"], given.get("namespace")
    answer = await client.append_events(session, [_turn(turn) for turn in given["turns"]], namespace=namespace)
    if given.get("end_session", False):
        await client.end_session(session, namespace=namespace)
    return {
        "session": session,
        "events": [event.name for event in answer.events],
        "redactions": sorted({category for event in answer.events for category in event.redactions}),
    }


def _turn(turn: dict[str, Any]) -> Turn:
    if "tool" in turn:
        call = ToolCall(turn["tool"], result=turn["content"])
        return Turn(turn["role"], speaker=turn.get("speaker", ""), occurred_at=turn.get("timestamp"), tool_call=call)
    return Turn(turn["role"], turn["content"], turn.get("speaker", ""), turn.get("timestamp"))


APPEND = Tool(
    name="memory_append",
    title="Record turns of a conversation",
    description=(
        "Append turns to a conversation as they were said; memories are made of what is worth keeping, small talk is "
        "dropped by the service. For hosts that record whole conversations; a single statement goes to memory_write. "
        'Example: {"session": "chat-42", "turns": [{"role": "user", "content": "我的预算是一万二。"}]}.'
    ),
    takes={
        "session": Text(description='The id of the conversation, for example "chat-42".', required=True),
        "turns": Many(
            description=f"1 to {MAX_TURNS} turns in the order they were said.",
            required=True,
            of=TURN,
            low=1,
            high=MAX_TURNS,
        ),
        "end_session": Flag(description="The conversation is over; its last topic is closed. Default false."),
        "namespace": NAMESPACE,
    },
    answers=answer_schema({"session": TEXT, "events": TEXTS, "redactions": TEXTS}),
    hints=Hints(),
    run=_append,
)
