"""memory_search: find memories."""

from collections.abc import Mapping
from typing import Any

from rearview.client import AsyncClient, memory_filter
from rearview.domain.memory import Origin
from rearview.mcp_adapter.answers import HIT_SCHEMA, TEXT, TEXTS, Json, answer_schema, hit_json
from rearview.mcp_adapter.fields import Choice, Fields, Flag, Labels, Many, Moment, Text
from rearview.mcp_adapter.tool import NAMESPACE, READS, TIME_ZONE, TOP_K, Arguments, Tool
from rearview.mcp_adapter.tools.write import TYPES
from rearview.v1 import recall_pb2

DEFAULT_TOP_K = 5

QUERY = Text(
    description='The question or statement, at most 4,096 characters, for example "What is my order number?"',
    required=True,
)
TIME_RANGE = Fields(
    description='When it was said or happened: {"start": "2026-08-01", "end": "2026-08-31"}; either may be left out.',
    of={
        "start": Moment(description='From this time on, for example "2026-08-01" or "2026-08-01T00:00:00+08:00".'),
        "end": Moment(description="Before this time; a date is included as a whole.", end_of_day=True),
    },
)
FILTERS = Fields(
    description="Only memories for which all of these hold.",
    of={
        "types": Many(description="Any of these types.", of=Choice(description="A type.", of=TYPES), high=len(TYPES)),
        "entities": Many(description="Mentions all of these names.", of=Text(description="A name."), high=20),
        "labels": Labels(description='Has all of these labels: [{"key": "project", "value": "apollo"}].'),
        "session": Text(description='Came from this session, by its id, for example "chat-42".'),
        "origins": Many(
            description="First said by any of these.",
            of=Choice(description="Who said it.", of=[origin.name.lower() for origin in Origin]),
            high=len(Origin),
        ),
    },
)


def filter_of(given: Arguments, namespace: str) -> recall_pb2.MemoryFilter | None:
    """Return the filter of `time_range` and `filters`; None when there is neither."""
    span, filters = given.get("time_range", {}), given.get("filters", {})
    if not span and not filters:
        return None
    session = filters.get("session", "")
    return memory_filter(
        types=filters.get("types", ()),
        start=span.get("start"),
        end=span.get("end"),
        entities=filters.get("entities", ()),
        session=session and (session if "/" in session else f"namespaces/{namespace}/sessions/{session}"),
        labels=filters.get("labels"),
        origins=filters.get("origins", ()),
    )


def recall_options(client: AsyncClient, given: Arguments) -> Mapping[str, Any]:
    """Return what all tools that recall pass on."""
    return {
        "top_k": given.get("top_k", DEFAULT_TOP_K),
        "filter": filter_of(given, given.get("namespace") or client.namespace),
        "as_of": given.get("as_of"),
        "session": given.get("session"),
        "time_zone": given.get("time_zone", ""),
        "include_cold": given.get("include_cold", False),
        "namespace": given.get("namespace"),
    }


def empty_reason(answer: recall_pb2.RecallResponse) -> str:
    """Return why there are no hits; empty when there are."""
    name: str = recall_pb2.EmptyReason.Name(answer.empty_reason).removeprefix("EMPTY_REASON_").lower()
    return "" if name == "unspecified" else name


async def _search(client: AsyncClient, given: Arguments) -> Json:
    answer = await client.recall(given["query"], **recall_options(client, given))
    return {
        "hits": [hit_json(hit) for hit in answer.hits],
        "trace": answer.trace,
        "degraded": list(answer.degraded),
        "empty_reason": empty_reason(answer),
    }


SEARCH = Tool(
    name="memory_search",
    title="Search memories",
    description=(
        "Find what is remembered, best first: call it before answering anything about the user, their things, or what "
        "was said before. Chinese and English find each other. Do not call it for greetings, small talk or general "
        'knowledge. Example: {"query": "我的订单号是多少？", "top_k": 5}. Each hit has an id for memory_update and '
        "memory_forget; `trace` goes to memory_explain; `degraded` says what was left out."
    ),
    takes={
        "query": QUERY,
        "top_k": TOP_K,
        "time_range": TIME_RANGE,
        "filters": FILTERS,
        "as_of": Moment(description='What was believed at this time instead of now, for example "2026-06-30".'),
        "include_cold": Flag(description="Search what has not been used for months as well. Default false."),
        "session": Text(description='The conversation that asks, for example "chat-42"; its last turns are searched.'),
        "time_zone": TIME_ZONE,
        "namespace": NAMESPACE,
    },
    answers=answer_schema(
        {"hits": {"type": "array", "items": HIT_SCHEMA}, "trace": TEXT, "degraded": TEXTS, "empty_reason": TEXT}
    ),
    hints=READS,
    run=_search,
)
