"""Calls that find memories, and say how they were found."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from rearview.client.call import MEMORY_SERVICE, Call, Defaults, read
from rearview.client.values import namespace_name, number_of, optional_session_name, resource_name, time_message
from rearview.domain.event import EventRole
from rearview.domain.recall import Route
from rearview.v1 import event_pb2, recall_pb2


def recall(
    defaults: Defaults,
    query: str = "",
    *,
    dialogue: Sequence[tuple[str, str]] = (),
    top_k: int = 0,
    filter: recall_pb2.MemoryFilter | None = None,  # noqa: A002 - the word of the API
    additional_namespaces: Sequence[str] = (),
    session: str | None = None,
    as_of: datetime | None = None,
    time_zone: str = "",
    reference_time: datetime | None = None,
    disabled_routes: Iterable[str | Route] = (),
    rerank: bool = True,
    rerank_weight: float | None = None,
    include_cold: bool = False,
    no_cache: bool = False,
    profile: str = "",
    group_by_memory: bool = False,
    context_token_budget: int | None = None,
    include_metadata: bool = False,
    explain_plan: bool = False,
    namespace: str | None = None,
) -> Call[recall_pb2.RecallResponse]:
    """Find the memories most relevant to a query, or to a dialogue of (role, text), best first.

    The answer's `context` is text for a prompt; `hits` are the memories with their scores by part.
    """
    request = recall_pb2.RecallRequest(
        parent=namespace_name(defaults, namespace),
        additional_namespaces=[namespace_name(defaults, further) for further in additional_namespaces],
        query=query,
        dialogue=[
            recall_pb2.QueryTurn(
                role=event_pb2.Role.ValueType(number_of(EventRole, role, f"dialogue[{index}].role")), content=content
            )
            for index, (role, content) in enumerate(dialogue)
        ],
        session=optional_session_name(defaults, session, namespace),
        top_k=top_k,
        filter=filter,
        as_of=time_message(as_of, "as_of"),
        time_zone=time_zone,
        reference_time=time_message(reference_time, "reference_time"),
        disabled_routes=[
            recall_pb2.RecallRoute.ValueType(number_of(Route, route, "disabled_routes")) for route in disabled_routes
        ],
        rerank=recall_pb2.RerankOptions(disabled=not rerank, weight=rerank_weight),
        include_cold=include_cold,
        no_cache=no_cache,
        profile=profile,
        group_by_memory=group_by_memory,
        context_token_budget=context_token_budget,
        include_metadata=include_metadata,
        explain_plan=explain_plan,
    )
    return read(MEMORY_SERVICE, "Recall", request, recall_pb2.RecallResponse)


def get_recall_trace(defaults: Defaults, trace: str | UUID) -> Call[recall_pb2.RecallTrace]:
    """Say what a recall did, step by step, by the trace's id or name."""
    del defaults  # traces are named without their namespaces
    request = recall_pb2.GetRecallTraceRequest(name=resource_name("recallTraces", trace))
    return read(MEMORY_SERVICE, "GetRecallTrace", request, recall_pb2.RecallTrace)
