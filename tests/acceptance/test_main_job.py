"""The main job: append a conversation, recall the right memory; in Chinese, in English and in both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, timedelta

import pytest

from rearview.client import Client, memory_filter
from rearview.domain.context_text import estimate_tokens
from rearview.domain.ids import new_id
from rearview.v1 import event_pb2, memory_pb2, recall_pb2
from tests.acceptance.conftest import in_fresh_namespace
from tests.acceptance.conversations import CONVERSATIONS, NOW, TIME_ZONE, Conversation, Question
from tests.support.client_steps import eventually, indexed, namespace_of, paused, stored_trace, text_of, texts_of
from tests.support.supervised_stack import SupervisedStack

ROUTES = recall_pb2.RecallRoute
MADE_OF_TURNS = {
    memory_pb2.MEMORY_TYPE_EPISODE,
    memory_pb2.MEMORY_TYPE_EXPLICIT,
    memory_pb2.MEMORY_TYPE_CONSTRAINT,
    memory_pb2.MEMORY_TYPE_DECISION,
    memory_pb2.MEMORY_TYPE_FACT,
}
KINDS = ("exact", "paraphrase", "time", "alias", "changed")


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation that was appended and indexed."""

    client: Client
    conversation: Conversation
    events: dict[str, event_pb2.Event]

    def ask(self, question: Question | str, **options: object) -> recall_pb2.RecallResponse:
        query = question if isinstance(question, str) else question.query
        return self.client.recall(query, time_zone=TIME_ZONE, reference_time=NOW, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=CONVERSATIONS, ids=lambda conversation: conversation.name)
def told(request: pytest.FixtureRequest, admin: Client) -> Told:
    client, conversation = in_fresh_namespace(admin), request.param
    events: list[event_pb2.Event] = []
    for session, turns in conversation.sessions.items():
        events += client.append_events(session, turns).events
        client.end_session(session)
    indexed(client)
    return Told(client, conversation, {event.name: event for event in events})


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda conversation: conversation.name)
def test_a_turn_is_found_before_it_is_indexed(
    stack: SupervisedStack, client: Client, conversation: Conversation
) -> None:
    appended = client.append_events("now", [conversation.at_once])
    with paused(stack, "writer"):
        by_anyone = client.recall(conversation.asked_at_once.query)
        in_session = client.recall(conversation.asked_at_once.query, session="now")
        working = client.working_memory("now")
    for answer in (by_anyone, in_session):
        assert conversation.asked_at_once.expected in text_of(answer.hits[0])
        assert list(answer.hits[0].events) == [appended.events[0].name]
    assert [turn.event.content for turn in working.turns] == [conversation.at_once.content]
    assert working.turns[0].importance > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_turn_is_found(told: Told, kind: str) -> None:
    question = told.conversation.questions[kind]
    answer = told.ask(question, top_k=5)
    assert list(answer.degraded) == []
    found = texts_of(answer)[: question.within]
    assert any(question.expected in text for text in found), found


@pytest.mark.parametrize("kind", KINDS)
def test_every_hit_says_where_it_comes_from(told: Told, kind: str) -> None:
    for hit in told.ask(told.conversation.questions[kind]).hits:
        assert hit.events
        assert [highlight.event for highlight in hit.highlights] == list(hit.events)
        for highlight in hit.highlights:
            said = told.events[highlight.event]
            assert (highlight.text, highlight.occurred_at) == (said.content, said.occurred_at)
        assert hit.routes
        memory = told.client.get_memory(hit.memory.name)
        assert set(hit.events) <= set(memory.events)
        if memory.type == memory_pb2.MEMORY_TYPE_FACT:
            assert memory.fact.attribute
        else:
            assert memory.content.count(told.events[hit.events[0]].content) == 1


@pytest.mark.parametrize("profile", ["", "assistant", "support", "task", "long_task"])
def test_the_parts_of_a_score_add_up_to_it(told: Told, profile: str) -> None:
    answer = told.ask(told.conversation.changed, profile=profile)
    totals = [hit.score.total for hit in answer.hits]
    assert totals == sorted(totals, reverse=True)
    for hit in answer.hits:
        score = hit.score
        parts = {
            "relevance": (score.relevance, score.relevance_weight),
            "recency": (score.recency, score.recency_weight),
            "frequency": (score.frequency, score.frequency_weight),
            "emotion": (score.emotion, score.emotion_weight),
        }
        assert all(0 <= part <= 1 for part, _ in parts.values()), parts
        assert sum(weight for _, weight in parts.values()) == pytest.approx(1, abs=1e-5)
        assert sum(part * weight for part, weight in parts.values()) == pytest.approx(score.total, abs=1e-5)
        assert score.fusion_terms


def test_a_task_forgets_faster_than_an_assistant(told: Told) -> None:
    question = told.conversation.exact
    name = next(hit.memory.name for hit in told.ask(question, top_k=20).hits if question.expected in text_of(hit))
    # A memory is as old as its last use, and uses are counted a little later: the first one has to be in.
    used = eventually(
        lambda: told.client.get_memory(name), lambda memory: memory.access_count > 0, "the use to be counted"
    )
    later = used.last_access_time.ToDatetime(UTC) + timedelta(days=3)

    def recency(profile: str) -> float:
        answer = told.client.recall(question.query, profile=profile, top_k=20, reference_time=later)
        return next(hit.score.recency for hit in answer.hits if hit.memory.name == name)

    assert recency("assistant") > recency("support") > recency("task")


@pytest.mark.parametrize("budget", [30, 120, None])
def test_the_context_keeps_its_budget_and_its_citations_resolve(told: Told, budget: int | None) -> None:
    answer = told.ask(told.conversation.changed, context_token_budget=budget)
    assert answer.context_tokens == estimate_tokens(answer.context) <= (budget or 800)
    marks = re.findall(r"\[\d+\]", answer.context)
    cited = {hit.citation: hit for hit in answer.hits if hit.citation}
    assert marks == list(cited)
    lines = {line.rsplit(" ", 1)[-1]: line for line in answer.context.splitlines()[1:]}
    for mark, hit in cited.items():
        assert hit.highlights[0].occurred_at.ToDatetime().strftime("%Y-%m-") in lines[mark]
        if hit.memory.type != memory_pb2.MEMORY_TYPE_FACT:
            assert told.events[hit.events[0]].content[:8] in lines[mark]


def test_no_context_without_a_budget(told: Told) -> None:
    answer = told.ask(told.conversation.exact, context_token_budget=0)
    assert (answer.context, answer.context_tokens) == ("", 0)
    assert not any(hit.citation for hit in answer.hits)


def test_each_route_can_be_left_out(told: Told) -> None:
    for route in ("vector", "keyword", "entity", "time", "working_memory", "raw_turns"):
        answer = told.ask(told.conversation.exact, disabled_routes=[route])
        left_out = ROUTES.Value(f"RECALL_ROUTE_{route.upper()}")
        assert all(left_out not in hit.routes for hit in answer.hits)
        assert list(answer.degraded) == []


def test_an_exact_number_is_found_by_the_keyword_route_alone(told: Told) -> None:
    others = ["vector", "entity", "time", "working_memory", "raw_turns"]
    answer = told.ask(told.conversation.exact, disabled_routes=others, top_k=1)
    assert told.conversation.exact.expected in text_of(answer.hits[0])
    assert list(answer.hits[0].routes) == [recall_pb2.RECALL_ROUTE_KEYWORD]
    assert answer.hits[0].score.keyword_score > 0


def test_a_filter_holds(told: Told) -> None:
    question = told.conversation.changed
    session = next(name for name in told.conversation.sessions if name != "change")
    name = f"namespaces/{namespace_of(told.client)}/sessions/{session}"
    answer = told.ask(question, filter=memory_filter(session=name))
    assert answer.hits
    assert all(event.startswith(f"{name}/events/") for hit in answer.hits for event in hit.events)
    assert not told.ask(question, filter=memory_filter(types=["tool_result"])).hits


def test_hits_grouped_by_memory_are_distinct_memories(told: Told) -> None:
    answer = told.ask(told.conversation.changed, group_by_memory=True, top_k=10)
    names = [hit.memory.name for hit in answer.hits]
    assert len(set(names)) == len(names) > 1


def test_a_recall_explains_itself(told: Told) -> None:
    answer = told.ask(told.conversation.time)
    trace = stored_trace(told.client, answer.trace)
    assert trace.query == told.conversation.time.query
    assert trace.route_counts["time"] > 0
    assert trace.understanding["time_ranges"]
    assert trace.stage_milliseconds
    returned = sorted((candidate for candidate in trace.candidates if candidate.rank), key=lambda one: one.rank)
    assert [candidate.score.total for candidate in returned] == [hit.score.total for hit in answer.hits]
    assert all(candidate.dropped_because for candidate in trace.candidates if not candidate.rank)


def test_a_dialogue_can_be_the_query(told: Told) -> None:
    question = told.conversation.paraphrase
    answer = told.client.recall(
        dialogue=[("user", "你好 hello"), ("assistant", "Hi! 有什么可以帮你？"), ("user", question.query)],
        time_zone=TIME_ZONE,
        reference_time=NOW,
    )
    assert any(question.expected in text for text in texts_of(answer)[:3])


def test_what_nobody_spoke_of_is_not_well_found(told: Told) -> None:
    about = told.ask(told.conversation.exact).hits[0].score.relevance
    answer = told.ask(told.conversation.nothing_to_do_with_it)
    assert all(hit.score.relevance < about for hit in answer.hits)


def test_events_and_sessions_are_listed(told: Told) -> None:
    client, conversation = told.client, told.conversation
    for session, turns in conversation.sessions.items():
        listed = list(client.list_events(session, page_size=2))
        assert [event.content for event in listed] == [turn.content for turn in turns]
        assert [event.sequence for event in listed] == list(range(1, len(turns) + 1))
        assert [event.name for event in listed] == [name for name in told.events if f"/{session}/" in name]
    sessions = list(client.list_sessions(page_size=1))
    assert [one.name.rsplit("/", 1)[1] for one in sessions] == ["change", *list(conversation.sessions)[1::-1]]
    for listed_session in sessions:
        assert listed_session.event_count == listed_session.indexed_event_count > 0
        assert listed_session.HasField("end_time")


def test_every_turn_says_what_became_of_it(told: Told) -> None:
    memories = {memory.name: memory for memory in told.client.list_memories()}
    for name, event in told.events.items():
        trace = told.client.capture_trace(name)
        assert trace.event == name
        assert trace.reason
        assert trace.HasField("index_time")
        if trace.outcome == event_pb2.CAPTURE_OUTCOME_KEPT:
            assert any(name in memories[memory].events for memory in trace.memories)
        else:
            assert trace.outcome == event_pb2.CAPTURE_OUTCOME_DROPPED
            assert not trace.memories
            assert event.role == event_pb2.ROLE_ASSISTANT
    assert {memory.type for memory in memories.values()} <= MADE_OF_TURNS


def test_a_retried_append_changes_nothing(client: Client) -> None:
    turn = CONVERSATIONS[0].at_once
    request_id = new_id()
    first = client.append_events("retried", [turn], request_id=request_id)
    again = client.append_events("retried", [turn], request_id=request_id)
    assert [event.name for event in again.events] == [event.name for event in first.events]
    assert len(list(client.list_events("retried"))) == 1
