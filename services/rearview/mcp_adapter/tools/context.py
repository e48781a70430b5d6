"""memory_context: what is relevant, as one text for a prompt."""

from rearview.client import AsyncClient
from rearview.domain.recall import MAX_CONTEXT_TOKENS
from rearview.mcp_adapter.answers import TEXT, TEXTS, WHOLE, Json, answer_schema
from rearview.mcp_adapter.fields import Number, Text
from rearview.mcp_adapter.tool import NAMESPACE, READS, TIME_ZONE, TOP_K, Arguments, Tool
from rearview.mcp_adapter.tools.search import FILTERS, QUERY, TIME_RANGE, empty_reason, recall_options


async def _context(client: AsyncClient, given: Arguments) -> Json:
    answer = await client.recall(
        given["query"], context_token_budget=given.get("max_tokens", 800), **recall_options(client, given)
    )
    return {
        "context": answer.context,
        "tokens": answer.context_tokens,
        "citations": [
            {"mark": hit.citation, "id": hit.memory.name.rpartition("/")[2], "events": list(hit.events)}
            for hit in answer.hits
            if hit.citation
        ],
        "trace": answer.trace,
        "degraded": list(answer.degraded),
        "empty_reason": empty_reason(answer),
    }


CONTEXT = Tool(
    name="memory_context",
    title="Memories as text for a prompt",
    description=(
        "Return the memories relevant to a query as one compact text with citation marks, within a budget of tokens, "
        "ready to be put into a prompt. Call it at most once before a reply; for single memories with their ids use "
        'memory_search. Example: {"query": "plan my trip to Kyoto", "session": "chat-42", "max_tokens": 400}.'
    ),
    takes={
        "query": QUERY,
        "session": Text(description='The conversation that asks, for example "chat-42"; its last turns are searched.'),
        "max_tokens": Number(
            description=f"The budget in tokens, 1 to {MAX_CONTEXT_TOKENS}. Default 800.",
            low=1,
            high=MAX_CONTEXT_TOKENS,
            whole=True,
        ),
        "top_k": TOP_K,
        "time_range": TIME_RANGE,
        "filters": FILTERS,
        "time_zone": TIME_ZONE,
        "namespace": NAMESPACE,
    },
    answers=answer_schema(
        {
            "context": TEXT,
            "tokens": WHOLE,
            "citations": {"type": "array", "items": answer_schema({"mark": TEXT, "id": TEXT, "events": TEXTS})},
            "trace": TEXT,
            "degraded": TEXTS,
            "empty_reason": TEXT,
        }
    ),
    hints=READS,
    run=_context,
    text=lambda answer: answer["context"] or "(nothing relevant is remembered)",
)
