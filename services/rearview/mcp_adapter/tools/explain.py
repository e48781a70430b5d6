"""memory_explain: why a search answered what it did, or what became of a turn."""

import asyncio

from rearview.client import AsyncClient
from rearview.domain.errors import NotFound, invalid_field
from rearview.mcp_adapter.answers import Json, answer_schema, capture_trace_json, recall_trace_json
from rearview.mcp_adapter.fields import Text
from rearview.mcp_adapter.tool import READS, Arguments, Tool
from rearview.v1.recall_pb2 import RecallTrace

ATTEMPTS = 5
PAUSE_SECONDS = 0.2


async def _explain(client: AsyncClient, given: Arguments) -> Json:
    trace, event = given.get("trace"), given.get("event")
    if (trace is None) == (event is None):
        raise invalid_field("trace", "give exactly one of trace, event")
    if event is not None:
        return {"capture": capture_trace_json(await client.capture_trace(event))}
    return {"recall": recall_trace_json(await _recall_trace(client, str(trace)))}


async def _recall_trace(client: AsyncClient, trace: str) -> RecallTrace:
    """Traces are written after the answer, so one that is asked for at once may be on its way."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await client.get_recall_trace(trace)
        except NotFound:
            await asyncio.sleep(PAUSE_SECONDS)
    return await client.get_recall_trace(trace)


EXPLAIN = Tool(
    name="memory_explain",
    title="Explain a search or a capture",
    description=(
        "Say why a search returned what it did (its `trace`: each candidate with the parts of its score, and why it "
        "was left out), or what became of a turn (an `event` of memory_append: kept, dropped, merged, and why). "
        'Example: {"trace": "recallTraces/01890f3e-..."}.'
    ),
    takes={
        "trace": Text(description="The `trace` of memory_search or memory_context."),
        "event": Text(description="The name of an event, as memory_append gives it."),
    },
    answers=answer_schema(
        {"recall": {"type": "object"}, "capture": {"type": "object"}}, optional=("recall", "capture")
    ),
    hints=READS,
    run=_explain,
)
