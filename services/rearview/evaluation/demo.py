"""`rearview demo`: the main job, shown and checked; every tick was tested against the running system."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from rearview.client import Client, Turn
from rearview.domain.errors import NotFound
from rearview.evaluation.claims import Claims
from rearview.evaluation.demo_conversation import DemoConversation, load_demo_conversation
from rearview.evaluation.demo_facts import show_facts
from rearview.evaluation.demo_tiers import show_tiers
from rearview.evaluation.ingest import append_session, fresh_namespace, wait_until_indexed
from rearview.evaluation.progress import shown_steps
from rearview.evaluation.receipts import course, is_proof, verified
from rearview.v1 import event_pb2, recall_pb2

PERSONAL_DATA = {
    "PHONE": "13812345678",
    "EMAIL": "lin.xiao@example.com",
    "BANK_CARD": "6222021001116245702",
    "NATIONAL_ID": "11010519491231002X",
    "IP": "192.168.31.25",
    "SECRET": "sk-live-9f8e7d6c5b4a39281706f5e4d3c2b1a0",
}
LOOK_ALIKES = ("A2026-0315-778", "LMP-20260605-31", "9,430", "2700K", "HZ-20417")
SMALL_TALK = ("哈哈", "ok", "嗯嗯", "晚安", "Great, thanks!", "wow")
FORCED = ("记住：阳台的门锁坏了", "A2026-0315-778", "We decided on Ryokan Hanamizuki")
FORGOTTEN_SESSION = "2026-05-22-after-kyoto"
FORGOTTEN_WORDS = "moss garden"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what must stand in one of the first hits."""

    shows: str
    query: str
    expected: str
    within: int = 3


QUESTIONS = (
    Question("exact order number", "LMP-20260605-31 付了多少定金？", "LMP-20260605-31", 1),
    Question("exact code in English", "What was the confirmation code KYT-55821 for?", "KYT-55821", 2),
    Question("paraphrase in Chinese", "点菜时要避开哪些食材？", "花生"),
    Question("paraphrase in Chinese", "今年秋天本来打算参加什么比赛？", "半马"),
    Question("paraphrase in English", "What colour will the office wall be?", "olive green", 1),
    Question("English question, Chinese memory", "What is the name of my cat?", "团子"),
    Question("Chinese question, English memory", "电工什么时候能来？", "electrician"),
    Question("time: 上周", "上周我在江边遇到了谁？", "许航"),
    Question("time: in July", "What did the doctor tell me about my knee in July?", "swim instead"),
    Question("changed preference", "我现在早上喝什么？", "燕麦拿铁"),
    Question("mixed", "Kyoto 的 ryokan 最后订了哪一家？", "Hanamizuki"),
)


def run_demo(client: Client, console: Console) -> Claims:
    """Run the main job in a namespace of its own and return the claims with their fate."""
    claims = Claims(console)
    conversation = load_demo_conversation()
    namespace = fresh_namespace(client, "demo")
    events = _append(client, namespace, conversation, claims)
    _show_capture(client, namespace, events, claims)
    _show_redaction(client, namespace, claims)
    _show_recalls(client, namespace, conversation, claims)
    _show_own_writes(client, namespace, claims)
    show_facts(client, claims)
    _show_cache(client, namespace, claims)
    _show_forget(client, namespace, claims)
    show_tiers(client, claims)
    return claims


def _append(
    client: Client, namespace: str, conversation: DemoConversation, claims: Claims
) -> dict[str, list[event_pb2.Event]]:
    console = claims.console
    console.rule("[bold]Append a conversation")
    console.print(
        f"{conversation.turn_count} turns of {conversation.user}, in {len(conversation.sessions)} sessions over half "
        "a year, in Chinese and English."
    )
    started = time.perf_counter()
    with shown_steps(Console(stderr=True)) as steps:
        appended = steps.start("append", conversation.turn_count)
        for session, turns in conversation.sessions.items():
            append_session(client, namespace, session, turns, appended)
        acknowledged = time.perf_counter() - started
        wait_until_indexed(client, namespace, steps.track("index", conversation.turn_count))
    console.print(
        f"Acknowledged after {acknowledged:.1f} s, searchable as memories after {time.perf_counter() - started:.1f} s."
    )
    events = {session: list(client.list_events(session, namespace=namespace)) for session in conversation.sessions}
    claims.check(
        "every turn is in the event log once",
        sum(len(listed) for listed in events.values()) == conversation.turn_count
        and len({event.name for listed in events.values() for event in listed}) == conversation.turn_count,
    )
    return events


def _show_capture(client: Client, namespace: str, events: dict[str, list[event_pb2.Event]], claims: Claims) -> None:
    console = claims.console
    console.rule("[bold]What was kept, what was dropped")
    listed = [event for session in events.values() for event in session]
    traces = {event.name: client.capture_trace(event.name) for event in listed}
    kept = [e for e in listed if traces[e.name].outcome == event_pb2.CAPTURE_OUTCOME_KEPT]
    dropped = [e for e in listed if traces[e.name].outcome == event_pb2.CAPTURE_OUTCOME_DROPPED]
    table = Table("", "turn", "importance", "why")
    shown = {e.content: e for e in dropped}
    for event in [*list(shown.values())[:4], *kept[2:6]]:
        trace = traces[event.name]
        mark = "[green]kept" if event in kept else "[dim]dropped"
        table.add_row(mark, event.content[:60], f"{trace.importance:.2f}", trace.reason)
    console.print(table)
    memories = list(client.list_memories(namespace=namespace, page_size=500))
    console.print(f"{len(kept)} turns kept in {len(memories)} memories, {len(dropped)} dropped.")
    claims.check("every turn was either kept or dropped", len(kept) + len(dropped) == len(listed))
    claims.check(
        "small talk was dropped: " + ", ".join(SMALL_TALK),
        all(
            traces[e.name].outcome == event_pb2.CAPTURE_OUTCOME_DROPPED
            for e in listed
            if e.content.strip(" 。！!") in SMALL_TALK or e.content in SMALL_TALK
        ),
    )
    claims.check(
        "what was asked to be remembered, decided, or returned by a tool was kept",
        all(any(text in memory.content for memory in memories) for text in FORCED),
    )


def _show_redaction(client: Client, namespace: str, claims: Claims) -> None:
    console = claims.console
    console.rule("[bold]Personal data")
    texts = [memory.content for memory in client.list_memories(namespace=namespace, page_size=500)]
    for session in client.list_sessions(namespace=namespace):
        texts += [str(event) + event.content for event in client.list_events(session.name, namespace=namespace)]
    lines = [line for memory in client.list_memories(namespace=namespace) for line in memory.content.splitlines()]
    for line in lines:
        if any(_stands_in(category, line) for category in PERSONAL_DATA):
            console.print(f"  {line[:100]}", markup=False)
    for category, value in PERSONAL_DATA.items():
        claims.check(
            f"{category} was replaced in events and memories alike",
            all(value not in text for text in texts) and any(_stands_in(category, text) for text in texts),
        )
    claims.check(
        "look-alikes stayed: " + ", ".join(LOOK_ALIKES),
        all(any(look_alike in text for text in texts) for look_alike in LOOK_ALIKES),
    )


def _stands_in(category: str, text: str) -> bool:
    """Whether a placeholder of the category stands in a text: numbered where it is of a session."""
    return f"[{category}]" in text or f"[{category}_" in text


def _show_recalls(client: Client, namespace: str, conversation: DemoConversation, claims: Claims) -> None:
    console = claims.console
    console.rule("[bold]Recall")
    for question in QUESTIONS:
        answer = client.recall(
            question.query,
            namespace=namespace,
            top_k=5,
            time_zone=conversation.time_zone,
            reference_time=conversation.now,
        )
        console.print(f"\n[bold]{question.query}[/]  [dim]({question.shows})[/]")
        console.print(_hits_table(answer))
        place = _place(answer, question.expected)
        claims.check(
            f"“{question.expected}” is among the first {question.within}", place is not None and place < question.within
        )
    console.print("\n[bold]The context text for a prompt, of the last question:[/]")
    console.print(answer.context)
    cited = [hit for hit in answer.hits if hit.citation]
    claims.check(
        "each citation mark of the context belongs to a hit",
        bool(cited) and all(hit.citation in answer.context for hit in cited),
    )
    claims.check("every hit names the events it came from", all(hit.events for hit in answer.hits))
    trace = client.get_recall_trace(answer.trace) if _wait_for_trace(client, answer.trace) else None
    claims.check("the recall left a trace that says how it was done", trace is not None and bool(trace.route_counts))


def _show_own_writes(client: Client, namespace: str, claims: Claims) -> None:
    console = claims.console
    console.rule("[bold]Reads see own writes")
    client.append_events("just-now", [Turn("user", "新的门禁密码本放在蓝色抽屉里")], namespace=namespace)
    answer = client.recall("门禁密码本在哪里？", namespace=namespace, top_k=3)
    console.print(_hits_table(answer))
    claims.check("a turn appended a moment ago is found, indexed or not", _place(answer, "蓝色抽屉") is not None)
    client.end_session("just-now", namespace=namespace)


def _show_cache(client: Client, namespace: str, claims: Claims) -> None:
    console = claims.console
    console.rule("[bold]Semantic cache")
    asked, reworded, other = "What is the name of my cat?", "Hi, what's my cat's name?", "What is the name of my dog?"
    wait_until_indexed(client, namespace, lambda _: None)  # what is being indexed may change any answer
    client.recall(asked, namespace=namespace, top_k=3)
    again = client.recall(reworded, namespace=namespace, top_k=3)
    console.print(f"{asked} [dim]then[/] {reworded}: hit {again.cache.hit}, similarity {again.cache.similarity:.2f}")
    claims.check("the same question in other words is answered from the cache", again.cache.hit)
    claims.check("one word further it is not", not client.recall(other, namespace=namespace, top_k=3).cache.hit)
    client.append_events("cache", [Turn("user", "We gave my cat a second name, Pudding")], namespace=namespace)
    after = client.recall(asked, namespace=namespace, top_k=3)
    claims.check(
        "a turn that answers it is found at once, not what was cached before",
        not after.cache.hit and _place(after, "Pudding") is not None,
    )
    client.end_session("cache", namespace=namespace)


def _show_forget(client: Client, namespace: str, claims: Claims) -> None:
    console = claims.console
    console.rule("[bold]Forget")
    query = "What was the best part of Kyoto?"
    before = client.recall(query, namespace=namespace, top_k=5)
    claims.check("before: the moss garden is found", _place(before, FORGOTTEN_WORDS) is not None)
    memory = next(hit.memory for hit in before.hits if FORGOTTEN_WORDS in _text(hit))
    receipt = client.forget(
        session=FORGOTTEN_SESSION, namespace=namespace, reason="demonstration", skip_grace_period=True
    )
    after = client.recall(query, namespace=namespace, top_k=20)
    claims.check("at once: it is not found by any route", _place(after, FORGOTTEN_WORDS) is None)
    claims.check("the memory itself is gone", _is_gone(lambda: client.get_memory(memory.name)))
    claims.check(
        "its session is gone", _is_gone(lambda: list(client.list_events(FORGOTTEN_SESSION, namespace=namespace)))
    )
    receipt = verified(client, receipt)
    table = Table("erased from", "count")
    for place in receipt.places:
        table.add_row(place.place, str(place.count))
    console.print(table)
    console.print(f"receipt {receipt.name}\ndigest  {receipt.digest}\ncourse  {course(receipt)}")
    claims.check(
        "the receipt says VERIFIED: every place was looked at again, and nothing was found",
        is_proof(receipt) and receipt.event_count > 0,
    )
    still = client.recall("Which hotel near Gion did we book?", namespace=namespace, top_k=5)
    claims.check("what belongs to other sessions stayed", _place(still, "Hanamizuki") is not None)


def _hits_table(answer: recall_pb2.RecallResponse) -> Table:
    table = Table("", "score", "said", "turn", "found by", box=None)
    for hit in answer.hits:
        said = hit.memory.occurred_at.ToDatetime().date() if hit.memory.HasField("occurred_at") else ""
        routes = ", ".join(
            recall_pb2.RecallRoute.Name(route).removeprefix("RECALL_ROUTE_").lower() for route in hit.routes
        )
        table.add_row(hit.citation, f"{hit.score.total:.2f}", str(said), _text(hit)[:90], routes)
    return table


def _text(hit: recall_pb2.RecallHit) -> str:
    return hit.highlights[0].text if hit.highlights else hit.memory.content


def _place(answer: recall_pb2.RecallResponse, words: str) -> int | None:
    return next((place for place, hit in enumerate(answer.hits) if words in _text(hit)), None)


def _is_gone(read: Callable[[], object]) -> bool:
    try:
        read()
    except NotFound:
        return True
    return False


def _wait_for_trace(client: Client, trace: str) -> bool:
    # Traces are written after the answer.
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            client.get_recall_trace(trace)
        except NotFound:
            time.sleep(0.1)
        else:
            return True
    return False
