"""What the demonstration shows of facts: a value that was replaced, what was held before, and undoing it."""

from datetime import UTC, datetime, timedelta

from rich.table import Table

from rearview.client import Client, Turn
from rearview.evaluation.claims import Claims
from rearview.evaluation.ingest import append_session, fresh_namespace, wait_until_indexed
from rearview.v1 import memory_pb2, recall_pb2

ONLY_FACTS = recall_pb2.MemoryFilter(types=[memory_pb2.MEMORY_TYPE_FACT])
QUESTION = "What is the renovation budget? 装修预算是多少？"
OLD, NEW = "8000", "12000"
SAID = (
    (60, "我的预算是8000，我喜欢喝美式"),
    (45, "今天想喝拿铁"),
    (30, "My 预算 is now 一万二"),
    (20, "If my budget were 20000 I would buy the lamp too"),
)


def show_facts(client: Client, claims: Claims) -> None:
    """Say four things about a budget and a drink, months apart, and check what is believed of them."""
    claims.console.rule("[bold]Facts: one current value, and what was held before")
    namespace, now = fresh_namespace(client, "demo-facts"), datetime.now(UTC)
    for days, text in SAID:
        turn = Turn("user", text, occurred_at=now - timedelta(days=days))
        append_session(client, namespace, f"{days}-days-ago", [turn], lambda _: None)
    wait_until_indexed(client, namespace, lambda _: None)
    known = list(client.list_memories(filter=ONLY_FACTS, states=["active", "superseded"], namespace=namespace))
    claims.console.print(_facts_table(known))
    budgets = {memory.fact.value: memory for memory in known if memory.fact.attribute == "budget"}
    active = [value for value, memory in budgets.items() if memory.state == memory_pb2.MEMORY_STATE_ACTIVE]
    claims.check("“My 预算 is now 一万二” superseded “我的预算是8000”, and a mere if changed nothing", active == [NEW])
    claims.check(
        "“今天想喝拿铁” was a one-off: the standing preference is still 美式",
        [memory.fact.value for memory in known if memory.fact.attribute == "likes"] == ["美式"],
    )
    answer = client.recall(QUESTION, filter=ONLY_FACTS, namespace=namespace)
    claims.check("recall returns the present value alone", _budgets(answer) == {NEW})
    before = client.recall(QUESTION, filter=ONLY_FACTS, as_of=now - timedelta(days=40), namespace=namespace)
    claims.check("as of forty days ago it was 8000", _budgets(before) == {OLD})
    if OLD in budgets:
        client.undo_supersession(budgets[OLD].name)
        answer = client.recall(QUESTION, filter=ONLY_FACTS, namespace=namespace, no_cache=True)
        claims.check("undoing the supersession brings 8000 back", _budgets(answer) == {OLD})


def _budgets(answer: recall_pb2.RecallResponse) -> set[str]:
    return {hit.memory.fact.value for hit in answer.hits if hit.memory.fact.attribute == "budget"}


def _facts_table(memories: list[memory_pb2.Memory]) -> Table:
    table = Table("said", "attribute", "value", "state", "held", "sure", box=None)
    for memory in sorted(memories, key=lambda one: one.occurred_at.ToDatetime()):
        until = memory.valid_to.ToDatetime().date().isoformat() if memory.HasField("valid_to") else "now"
        table.add_row(
            memory.content[:40],
            memory.fact.attribute,
            memory.fact.value,
            memory_pb2.MemoryState.Name(memory.state).removeprefix("MEMORY_STATE_").lower(),
            f"{memory.valid_from.ToDatetime().date()} to {until}",
            f"{memory.confidence:.2f}",
        )
    return table
