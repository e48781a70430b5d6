"""What the retriever is asked: the caller's request, the namespaces subscribed to, and the query's vectors."""

from collections.abc import Sequence

from rearview.domain.errors import RoleInsufficient
from rearview.domain.principal import Caller, Role
from rearview.domain.recall import MAX_NAMESPACES
from rearview.gateway import request_names
from rearview.gateway.embed_query import EmbeddedQuery
from rearview.internal.v1 import retriever_service_pb2
from rearview.rpc.convert.query_vectors import query_vector_to_proto
from rearview.v1 import recall_pb2


def check_may_explain(request: recall_pb2.RecallRequest, caller: Caller) -> None:
    """Check that the caller may see the database's plan, if it asks for it. Raises: RoleInsufficient."""
    if request.explain_plan and not caller.role.includes(Role.ADMIN):
        raise RoleInsufficient(
            "explain_plan needs the role admin",
            method="rearview.v1.MemoryService/Recall",
            required_role=Role.ADMIN.value,
            role=caller.role.value,
        )


def internal_recall_request(
    request: recall_pb2.RecallRequest, caller: Caller, vectors: Sequence[EmbeddedQuery]
) -> retriever_service_pb2.RecallRequest:
    """Return the request for the retriever. What the caller reaches and did not name are its subscriptions."""
    internal = own_recall_request(request, vectors)
    named = request_names.recall(request)
    room = MAX_NAMESPACES - 1 - len(request.additional_namespaces)
    subscribed = [f"namespaces/{name}" for name in caller.namespaces if name not in named]
    internal.request.additional_namespaces.extend(subscribed[: max(room, 0)])
    return internal


def own_recall_request(
    request: recall_pb2.RecallRequest, vectors: Sequence[EmbeddedQuery]
) -> retriever_service_pb2.RecallRequest:
    """Return the request for the retriever to search nothing but the namespaces that the request names."""
    return retriever_service_pb2.RecallRequest(
        request=request,
        vectors=[query_vector_to_proto(embedded.generation_id, embedded.vector) for embedded in vectors],
    )
