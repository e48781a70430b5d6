"""Forgetting: at once out of reach by every way of reading, purged in the end, taken back until then."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rearview.client import Client, ToolCall, Turn
from rearview.domain.errors import NotFound, PreconditionFailed, RequestIdReused
from rearview.domain.ids import new_id
from rearview.v1 import event_pb2, forget_pb2
from tests.acceptance.conftest import in_fresh_namespace
from tests.support.client_steps import eventually, indexed, namespace_of, refused, text_of, texts_of

SECRET_GARDEN = [
    Turn("user", "京都最难忘的是西芳寺的苔庭，早上七点一个人都没有。"),
    Turn("assistant", "西芳寺要提前预约的。"),
    Turn("user", "The moss garden needs a postcard booking, code KYT-7741."),
    Turn("tool", tool_call=ToolCall("booking", "Saihoji confirmed for two, 苔庭 09:00", {"temple": "西芳寺"})),
]
KEPT = [
    Turn("user", "大阪订的是难波的酒店，靠近地铁站。"),
    Turn("assistant", "难波交通方便。"),
    Turn("user", "In Osaka we also want to eat okonomiyaki at Mizuno."),
]
WAYS_TO_ASK = ("京都最难忘的地方是哪里？", "moss garden", "KYT-7741", "西芳寺", "Saihoji 苔庭")
TRACES = ("西芳寺", "moss garden", "KYT-7741", "Saihoji")


@dataclass(frozen=True, slots=True)
class Journey:
    """Two sessions, one of which is to be forgotten."""

    client: Client
    forgotten: tuple[event_pb2.Event, ...]
    kept: tuple[event_pb2.Event, ...]

    def memories_of(self, events: tuple[event_pb2.Event, ...]) -> set[str]:
        names = {event.name for event in events}
        return {memory.name for memory in self.client.list_memories() if names & set(memory.events)}


@pytest.fixture
def journey(admin: Client) -> Journey:
    client = in_fresh_namespace(admin)
    forgotten = client.append_events("kyoto", SECRET_GARDEN).events
    kept = client.append_events("osaka", KEPT).events
    for session in ("kyoto", "osaka"):
        client.end_session(session)
    indexed(client)
    return Journey(client, tuple(forgotten), tuple(kept))


def assert_out_of_reach(client: Client, session: str | None = None) -> None:
    """No recall by any words, nor in the session, brings back a trace of the forgotten turns."""
    for query in WAYS_TO_ASK:
        for by_memory in (False, True):
            answer = client.recall(query, top_k=100, include_metadata=True, session=session, group_by_memory=by_memory)
            assert not [trace for trace in TRACES if trace in f"{answer.hits}{answer.context}"]
    assert not [trace for trace in TRACES for memory in client.list_memories() if trace in memory.content]


def assert_kept(journey: Journey, memories: set[str]) -> None:
    """The other session is as it was."""
    assert journey.memories_of(journey.kept) == memories
    assert "难波" in text_of(journey.client.recall("大阪住在哪里？").hits[0])
    assert [event.content for event in journey.client.list_events("osaka")] == [turn.content for turn in KEPT]


def purged(client: Client, receipt: forget_pb2.ForgetReceipt) -> forget_pb2.ForgetReceipt:
    states = (forget_pb2.FORGET_STATE_PURGED, forget_pb2.FORGET_STATE_VERIFIED)
    return eventually(lambda: client.get_forget_receipt(receipt.name), lambda found: found.state in states, "the purge")


def test_last_turns_go_and_their_purge_is_verified(client: Client) -> None:
    with client.session("kyoto") as session:
        session.user("四月去京都，住在岚山。")
        session.assistant("好的。")
        session.user("The safe opens with marzipan nine.")
        session.assistant("Marzipan nine it is.")
    eventually(lambda: len(list(client.list_memories())), lambda count: count > 0, "the memories")
    receipt = client.forget(session="kyoto", last_turns=1, skip_grace_period=True)
    assert receipt.event_count == 2
    done = eventually(
        lambda: client.get_forget_receipt(receipt.name),
        lambda found: found.state == forget_pb2.FORGET_STATE_VERIFIED,
        "the verification",
    )
    assert done.HasField("verify_time")
    assert "arzipan" not in "".join(memory.content for memory in client.list_memories())
    assert [event.content for event in client.list_events("kyoto")] == ["四月去京都，住在岚山。", "好的。"]


def test_a_forgotten_session_is_out_of_reach_at_once(journey: Journey) -> None:
    client, others = journey.client, journey.memories_of(journey.kept)
    gone = journey.memories_of(journey.forgotten)
    assert gone
    assert "西芳寺" in texts_of(client.recall(WAYS_TO_ASK[0]))[0]

    receipt = client.forget(session="kyoto", reason="asked for")

    assert receipt.state == forget_pb2.FORGET_STATE_TOMBSTONED
    assert set(receipt.memories) == gone
    assert (receipt.memory_count, receipt.event_count) == (len(gone), len(journey.forgotten))
    assert_out_of_reach(client, "kyoto")
    for memory in gone:
        with refused(NotFound):
            client.get_memory(memory)
        with refused(NotFound):
            client.update_memory(memory, {"pinned": True})
    with refused(NotFound):
        list(client.list_events("kyoto"))
    assert [session.name.rsplit("/", 1)[1] for session in client.list_sessions()] == ["osaka"]
    with refused(NotFound):
        client.working_memory("kyoto")
    for event in journey.forgotten:
        trace = client.capture_trace(event.name)
        assert trace.outcome == event_pb2.CAPTURE_OUTCOME_FORGOTTEN
        assert not trace.memories
    assert_kept(journey, others)


def test_a_forgotten_session_is_purged_after_its_grace_period(journey: Journey) -> None:
    client, others = journey.client, journey.memories_of(journey.kept)
    receipt = client.forget(session="kyoto", skip_grace_period=True)
    done = purged(client, receipt)
    assert done.HasField("purge_time")
    assert {place.place for place in done.places} >= {"postgres.memory", "postgres.event"}
    assert {place.place: place.count for place in done.places}["postgres.event"] == len(journey.forgotten)
    assert len(done.digest) == 64
    with refused(PreconditionFailed):
        client.restore(receipt.name)
    assert_out_of_reach(client)
    assert_kept(journey, others)


def test_memories_forgotten_by_name_take_their_turns_along(journey: Journey) -> None:
    client, others = journey.client, journey.memories_of(journey.kept)
    gone = sorted(journey.memories_of(journey.forgotten))
    receipt = client.forget(memories=gone, skip_grace_period=True)
    assert set(receipt.memories) == set(gone)
    for memory in gone:
        with refused(NotFound):
            client.get_memory(memory)
    assert_out_of_reach(client, "kyoto")
    left = [event.name for event in client.list_events("kyoto")]
    assert not {event.name for event in journey.forgotten if event.role == event_pb2.ROLE_USER} & set(left)
    purged(client, receipt)
    assert_kept(journey, others)


def test_what_was_remembered_can_be_forgotten_and_remembered_anew(client: Client) -> None:
    memory = client.remember("保险柜在书房。").memory
    client.forget(memories=[memory.name], skip_grace_period=True)
    assert not client.recall("保险柜在哪里？").hits
    again = client.remember("保险柜在书房。").memory
    assert again.name != memory.name
    assert client.recall("保险柜在哪里？").hits[0].memory.name == again.name


def test_turns_are_forgotten_before_they_were_indexed(client: Client) -> None:
    client.append_events("now", SECRET_GARDEN)
    client.forget(session="now")
    assert_out_of_reach(client, "now")


def test_a_forget_is_taken_back_until_the_purge(journey: Journey) -> None:
    client = journey.client
    before = {memory.name: memory.content for memory in client.list_memories()}
    receipt = client.forget(session="kyoto")
    restored = client.restore(receipt.name)
    assert restored.state == forget_pb2.FORGET_STATE_RESTORED
    assert {memory.name: memory.content for memory in client.list_memories()} == before
    assert "西芳寺" in texts_of(client.recall(WAYS_TO_ASK[0]))[0]
    assert [event.name for event in client.list_events("kyoto")] == [event.name for event in journey.forgotten]
    assert client.get_forget_receipt(receipt.name).state == forget_pb2.FORGET_STATE_RESTORED
    assert client.restore(receipt.name).state == forget_pb2.FORGET_STATE_RESTORED


def test_a_repeated_forget_answers_with_the_same_receipt(client: Client) -> None:
    first, second = (client.remember(text).memory.name for text in ("The attic leaks.", "地下室很潮。"))
    request_id = new_id()
    receipt = client.forget(memories=[first], request_id=request_id)
    assert client.forget(memories=[first], request_id=request_id) == receipt
    with refused(RequestIdReused):
        client.forget(memories=[second], request_id=request_id)
    assert client.get_memory(second).content == "地下室很潮。"


def test_one_missing_memory_fails_the_whole_forget(client: Client) -> None:
    memory = client.remember("The attic leaks.").memory.name
    missing = f"namespaces/{namespace_of(client)}/memories/{new_id()}"
    with refused(NotFound):
        client.forget(memories=[memory, missing])
    assert client.get_memory(memory).content == "The attic leaks."
