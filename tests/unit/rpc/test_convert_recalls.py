from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.client import recall_calls
from rearview.client.call import Defaults
from rearview.client.values import memory_filter
from rearview.domain.errors import InvalidFields
from rearview.domain.event import Event, EventRole
from rearview.domain.memory import Memory, MemoryType, Origin, Trust
from rearview.domain.recall import (
    EmptyReason,
    Highlight,
    Hit,
    QueryTurn,
    Recalled,
    RecallQuery,
    RecallTrace,
    Route,
    ScoreParts,
    TraceCandidate,
)
from rearview.internal.v1 import retriever_service_pb2
from rearview.rpc.convert import recalls as convert
from rearview.rpc.convert.query_vectors import query_vector_to_proto, query_vectors_from_proto
from rearview.v1 import event_pb2, recall_pb2
from tests.unit.rpc.garbage import convert_or_refuse, mutated
from tests.unit.rpc.strategies import (
    NOW,
    few,
    fractions,
    moments,
    namespaces,
    optional_texts,
    sessions,
    small_floats,
    texts,
)

DEFAULTS = Defaults("default", 10)

scores = st.builds(
    ScoreParts,
    *[small_floats] * 9,
    *[st.none() | small_floats] * 3,
    st.dictionaries(st.sampled_from(["keyword", "vector", "时间"]), small_floats),
)
routes = st.frozensets(st.sampled_from(Route))
traces = st.builds(
    RecallTrace,
    trace_id=st.uuids(),
    query=texts,
    namespaces=st.lists(namespaces, max_size=3).map(tuple),
    at=moments,
    understanding=st.dictionaries(texts, texts, max_size=3),
    route_counts=st.dictionaries(texts, st.integers(0, 1000), max_size=3),
    candidates=st.lists(
        st.builds(TraceCandidate, texts, routes, scores, st.integers(0, 100), optional_texts), max_size=3
    ).map(tuple),
    degraded=st.lists(texts, max_size=2).map(tuple),
    stage_milliseconds=st.dictionaries(texts, small_floats, max_size=3),
    plan=optional_texts,
)


def _violations(request: recall_pb2.RecallRequest) -> dict[str, str]:
    with pytest.raises(InvalidFields) as error:
        convert.recall_from_proto(request, NOW)
    return {v.field: v.description for v in error.value.violations}


@few
@given(traces)
def test_a_trace_comes_back_as_it_went(trace: RecallTrace) -> None:
    message = convert.recall_trace_to_proto(trace)
    assert convert.recall_trace_from_proto(recall_pb2.RecallTrace.FromString(message.SerializeToString())) == trace


@few
@given(
    texts,
    st.fixed_dictionaries(
        {
            "top_k": st.integers(1, 100),
            "session": st.none() | sessions,
            "as_of": st.none() | moments,
            "time_zone": st.sampled_from(["", "Asia/Shanghai", "America/New_York"]),
            "disabled_routes": routes,
            "rerank": st.booleans(),
            "rerank_weight": st.none() | fractions,
            "include_cold": st.booleans(),
            "no_cache": st.booleans(),
            "profile": st.sampled_from(["", "support"]),
            "group_by_memory": st.booleans(),
            "context_token_budget": st.none() | st.integers(0, 32_768),
            "include_metadata": st.booleans(),
            "explain_plan": st.booleans(),
        }
    ),
)
def test_what_a_client_asks_arrives(query: str, fields: dict[str, Any]) -> None:
    request = recall_calls.recall(DEFAULTS, query, **fields).request
    assert isinstance(request, recall_pb2.RecallRequest)
    asked = convert.recall_from_proto(request, NOW)
    weight, budget = fields["rerank_weight"], fields["context_token_budget"]
    assert asked == RecallQuery(
        text=query,
        reference_time=NOW,
        session_id=fields["session"] or "",
        top_k=fields["top_k"],
        as_of=fields["as_of"],
        time_zone=fields["time_zone"] or "UTC",
        disabled_routes=fields["disabled_routes"],
        rerank=fields["rerank"],
        rerank_weight=0.7 if weight is None else weight,
        include_cold=fields["include_cold"],
        no_cache=fields["no_cache"],
        profile=fields["profile"],
        group_by_memory=fields["group_by_memory"],
        context_token_budget=800 if budget is None else budget,
        include_metadata=fields["include_metadata"],
        explain_plan=fields["explain_plan"],
    )


@few
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), min_size=1, max_size=5))
def test_a_dialogue_arrives(dialogue: list[tuple[str, str]]) -> None:
    request = recall_calls.recall(DEFAULTS, dialogue=dialogue).request
    assert isinstance(request, recall_pb2.RecallRequest)
    asked = convert.recall_from_proto(request, NOW)
    assert asked.dialogue == tuple(QueryTurn(EventRole[role.upper()], content) for role, content in dialogue)


@few
@given(st.lists(namespaces, max_size=15))
def test_namespaces_come_once_each_the_parent_first(further: list[str]) -> None:
    request = recall_calls.recall(DEFAULTS, "问", additional_namespaces=further).request
    assert isinstance(request, recall_pb2.RecallRequest)
    assert convert.recall_namespaces_from_proto(request) == tuple(dict.fromkeys(["default", *further]))


def test_every_bad_field_of_a_recall_is_told() -> None:
    request = recall_pb2.RecallRequest(
        parent="namespaces/a",
        query="q" * 4_097,
        additional_namespaces=["x"],
        session="namespaces/b/sessions/s",
        top_k=101,
        time_zone="../etc/passwd",
        disabled_routes=[0, 42],  # type: ignore[list-item]
        context_token_budget=-1,
        profile="p" * 64,
    )
    request.rerank.weight = float("nan")
    request.filter.types.append(99)  # type: ignore[arg-type]
    request.as_of.nanos = -1
    request.reference_time.seconds = 253_402_300_799
    request.dialogue.add(role=event_pb2.ROLE_TOOL, content="")
    assert set(_violations(request)) == {
        "query",
        "additional_namespaces[0]",
        "session",
        "top_k",
        "time_zone",
        "disabled_routes[0]",
        "disabled_routes[1]",
        "context_token_budget",
        "profile",
        "rerank.weight",
        "filter.types[0]",
        "as_of",
        "reference_time",
        "dialogue[0].role",
        "dialogue[0].content",
    }
    assert set(_violations(recall_pb2.RecallRequest(parent="namespaces/a"))) == {"query"}
    long = recall_pb2.RecallRequest(parent="namespaces/a")
    long.dialogue.extend([recall_pb2.QueryTurn(role=event_pb2.ROLE_USER, content="嗯")] * 65)
    assert set(_violations(long)) == {"dialogue"}
    many = recall_pb2.RecallRequest(
        parent="namespaces/a", query="问", additional_namespaces=[f"namespaces/n{i}" for i in range(16)]
    )
    assert set(_violations(many)) == {"additional_namespaces"}


_RECALL = recall_calls.recall(
    DEFAULTS, "上周 last week?", session="s", as_of=NOW, time_zone="UTC", rerank_weight=0.5, context_token_budget=9,
    disabled_routes=["time"], filter=memory_filter(types=["fact"], start=NOW, labels={"k": "v"}, entities=["李雷"]),
).request  # fmt: skip


@few
@given(mutated(_RECALL), st.binary(max_size=100))
def test_garbage_never_raises_anything_else(recall: bytes, trace: bytes) -> None:
    convert_or_refuse(recall_pb2.RecallRequest, recall, lambda r: convert.recall_from_proto(r, NOW))
    convert_or_refuse(recall_pb2.RecallRequest, recall, convert.recall_namespaces_from_proto)
    convert_or_refuse(recall_pb2.RecallTrace, trace, convert.recall_trace_from_proto)


def test_an_answer_is_told_in_full() -> None:
    event = Event(UUID(int=4), EventRole.USER, "预算改成12000了", NOW, speaker="李雷", redactions=("PHONE",))
    memory = Memory(
        UUID(int=1), MemoryType.FACT, "budget is 12000", NOW, NOW, NOW, Origin.USER, Trust.TRUSTED,
        metadata={"k": 1}, event_ids=tuple(("s1", UUID(int=i)) for i in range(5)),
    )  # fmt: skip
    score = ScoreParts(0.5, 0.75, vector_similarity=0.25, fusion_terms={"keyword": 1.5})
    recalled = Recalled(
        hits=(
            Hit("a", memory, score, frozenset({Route.KEYWORD, Route.VECTOR}), citation="[1]"),
            Hit("b", None, score, frozenset({Route.RAW_TURNS}), (Highlight("s2", event),)),
        ),
        context="[相关记忆] ...",
        context_tokens=12,
        trace_id=UUID(int=9),
        degraded=("rerank",),
        ranker="features",
        cache_hit=True,
        cache_similarity=0.5,
        cache_age=timedelta(seconds=3),
    )
    answer = convert.recalled_to_proto(recalled)
    first, second = answer.hits
    assert first.memory.content == "budget is 12000"
    assert not first.memory.events
    assert not first.memory.HasField("metadata")
    assert list(first.events) == [f"namespaces/a/sessions/s1/events/{UUID(int=i)}" for i in range(3)]
    assert list(first.routes) == [recall_pb2.RECALL_ROUTE_VECTOR, recall_pb2.RECALL_ROUTE_KEYWORD]
    assert (first.score.vector_similarity, first.score.HasField("rerank_score")) == (0.25, False)
    assert (second.memory.name, second.memory.content) == ("", "预算改成12000了")
    assert second.memory.session == "namespaces/b/sessions/s2"
    assert list(second.memory.redactions) == ["PHONE"]
    assert (second.highlights[0].speaker, second.highlights[0].text) == ("李雷", "预算改成12000了")
    assert (answer.trace, answer.context_tokens, list(answer.degraded)) == (
        f"recallTraces/{UUID(int=9)}",
        12,
        ["rerank"],
    )
    assert (answer.cache.hit, answer.cache.age.seconds) == (True, 3)
    full = convert.recalled_to_proto(recalled, include_metadata=True).hits[0].memory
    assert full.metadata["k"] == 1
    assert len(full.events) == 5
    empty = Recalled((), "", 0, UUID(int=9), (), "features", EmptyReason.BELOW_FLOOR)
    message = convert.recalled_to_proto(empty)
    assert message.empty_reason == recall_pb2.EMPTY_REASON_BELOW_FLOOR
    assert not message.HasField("cache")


@few
@given(st.dictionaries(texts, st.lists(small_floats, min_size=1, max_size=16), max_size=3))
def test_vectors_come_back_bit_by_bit(vectors: dict[str, list[float]]) -> None:
    sent = [query_vector_to_proto(name, np.array(values, dtype=np.float32)) for name, values in vectors.items()]
    back = query_vectors_from_proto(sent, "vectors")
    assert {name: vector.tolist() for name, vector in back.items()} == vectors
    assert all(vector.dtype == np.float32 for vector in back.values())


@pytest.mark.parametrize("values", [b"", b"abc", np.array([np.nan], "<f4").tobytes(), b"\0" * 4 * 4_097])
def test_vectors_that_are_none_are_refused(values: bytes) -> None:
    with pytest.raises(InvalidFields, match=r"vectors\[0\]\.values"):
        query_vectors_from_proto([retriever_service_pb2.QueryVector(generation="g", values=values)], "vectors")
