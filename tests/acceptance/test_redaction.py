"""Personal data: replaced before anything is stored, embedded, logged or traced, wherever it comes in."""

from __future__ import annotations

import json

import pytest

from rearview.client import Client, ToolCall, Turn
from rearview.domain.errors import InvalidFields, RearviewError
from rearview.embedded.endpoints import Endpoints
from tests.acceptance.conftest import in_fresh_namespace
from tests.support.client_steps import indexed, namespace_of, stored_trace
from tests.support.stored_texts import columns, keys, logs
from tests.support.supervised_stack import SupervisedStack

PLANTED = {
    "PHONE": "13911427358",
    "EMAIL": "qiao.anran@post-box.example.org",
    "NATIONAL_ID": "110105199003072930",
    "BANK_CARD": "6222026183945072613",
    "IP": "10.73.218.94",
    "SECRET": "sk-proj-Qm7vT2xKc9RbW4nZs8LhYd3FgJe6Ua1P",
}
LOOK_ALIKES = ("A2026-0731-552", "1.5", "2026-07-31", "12,800")


def luhn(digits: str) -> str:
    """Return the digits with their check digit (ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return f"{digits}{-total % 10}"


def national_id(digits: str) -> str:
    """Return the first 17 digits of a Chinese citizen's number with their check character (GB 11643)."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return digits + "10X98765432"[sum(w * int(d) for w, d in zip(weights, digits, strict=True)) % 11]


PLANTED["BANK_CARD"] = luhn(PLANTED["BANK_CARD"][:-1])
PLANTED["NATIONAL_ID"] = national_id(PLANTED["NATIONAL_ID"][:-1])
ALL_VALUES = "，".join(PLANTED.values())
SENTENCES = [
    f"我的手机号是{PLANTED['PHONE']}，邮箱是{PLANTED['EMAIL']}，订单A2026-0731-552。",
    f"身份证号码{PLANTED['NATIONAL_ID']}，银行卡{PLANTED['BANK_CARD']}，一共12,800元。",
    f"The server is at {PLANTED['IP']}, the key is {PLANTED['SECRET']}, version 1.5 of 2026-07-31.",
]


@pytest.fixture(scope="module")
def planted(admin: Client) -> Client:
    """A namespace into which the values were written by every way that takes text."""
    client = in_fresh_namespace(admin)
    turns = [Turn("user", sentence) for sentence in SENTENCES]
    for category, value in PLANTED.items():
        nested = {"deep": [{"deeper": {f"key {value}": f"value {value}", "list": [value, 1, None]}}]}
        turns += [
            Turn("user", f"{category}: {value}", speaker=f"speaker {value}"[:128]),
            Turn("user", "看这张图", image_caption=f"a screenshot that shows {value}"),
            Turn("user", "with metadata", metadata={value: "as a key", "value": value, **nested}),
            Turn(
                "tool",
                tool_call=ToolCall(
                    tool="lookup",
                    arguments={"query": value, f"arg {value}": 1, **nested},
                    result=json.dumps({"result": [f"found {value}"], value: value}, ensure_ascii=False),
                    call_id=f"call {value}",
                ),
            ),
        ]
    client.append_events("planted", turns)
    for category, value in PLANTED.items():
        client.remember(
            f"记住 {category} 是 {value}。",
            labels={"who": value},
            metadata={f"key {value}": {"nested": [value]}},
            entities=[value],
        )
        memory = client.remember(f"To be changed: {category}.").memory
        client.update_memory(memory.name, {"content": f"changed to {value}", "metadata": {"v": value}})
        client.update_memory(memory.name, {"labels": {"is": value}, "entities": [value]})
    client.end_session("planted")
    indexed(client)
    return client


def every_text(client: Client) -> str:
    """Everything that can be read back, as text."""
    told = [str(memory) for memory in client.list_memories(page_size=1000)]
    told += [str(event) for event in client.list_events("planted")]
    told += [str(client.capture_trace(event.name)) for event in client.list_events("planted")]
    told.append(str(client.working_memory("planted", max_turns=200)))
    return "\n".join(told)


@pytest.mark.parametrize("category", PLANTED)
def test_no_answer_holds_the_value(planted: Client, category: str) -> None:
    told = every_text(planted)
    assert PLANTED[category] not in told
    assert f"[{category}]" in told


def test_look_alikes_stay(planted: Client) -> None:
    told = every_text(planted)
    assert not [text for text in LOOK_ALIKES if text not in told]


def test_events_say_what_was_replaced(planted: Client) -> None:
    listed = list(planted.list_events("planted"))
    assert [set(event.redactions) for event in listed[:3]] == [
        {"PHONE", "EMAIL"},
        {"NATIONAL_ID", "BANK_CARD"},
        {"IP", "SECRET"},
    ]
    assert all(event.redactions for event in listed[3:])


@pytest.mark.parametrize("category", PLANTED)
def test_a_query_leaves_no_value_behind(planted: Client, category: str) -> None:
    value = PLANTED[category]
    answer = planted.recall(f"谁的 {category} 是 {value}？", session="planted")
    assert value not in str(answer)
    trace = stored_trace(planted, answer.trace)
    assert value not in str(trace)
    assert f"[{category}]" in trace.query
    by_dialogue = planted.recall(dialogue=[("user", f"我是 {value}"), ("assistant", value), ("user", "记得吗？")])
    assert value not in str(stored_trace(planted, by_dialogue.trace))


def test_refusals_do_not_repeat_the_value(planted: Client) -> None:
    namespace = namespace_of(planted)
    for value in PLANTED.values():
        for call in (
            lambda value=value: planted.append_events("planted", [Turn("user", "", speaker=value)]),
            lambda value=value: planted.remember(value, labels={value: value}),
            lambda value=value: planted.recall("?", time_zone=value),
            lambda value=value: planted.recall("?", profile=value),
            lambda value=value: planted.get_memory(f"namespaces/{namespace}/memories/{value}"),
            lambda value=value: planted.update_memory(f"namespaces/{namespace}/memories/{value}", {"pinned": True}),
        ):
            with pytest.raises(RearviewError) as caught:
                call()
            assert isinstance(caught.value, InvalidFields)


def test_a_forget_keeps_no_value_in_its_reason(planted: Client) -> None:
    memory = planted.remember("wird wieder vergessen").memory.name
    planted.forget(memories=[memory], reason=f"belongs to {ALL_VALUES}")


def test_names_that_callers_choose(admin: Client) -> None:
    # The names of things for people pass through redaction as well.
    namespace = namespace_of(in_fresh_namespace(admin))
    for value in PLANTED.values():
        admin.update_namespace(namespace, display_name=f"of {value}")


def test_no_store_and_no_log_holds_a_value(planted: Client, stack: SupervisedStack, endpoints: Endpoints) -> None:
    """Runs last: reads every text of every table, every key of Redis and every log."""
    for value in PLANTED.values():
        stored_trace(planted, planted.recall(value).trace)
    found = {
        (place, category)
        for places in (columns(endpoints), keys(endpoints), logs(stack.folder.logs))
        for place, text in places
        for category, value in PLANTED.items()
        if value in text
    }
    assert not found
