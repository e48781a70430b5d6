"""Placeholders in a session: the same value has the same number, whoever writes it, however it is spelt."""

import asyncio
import re
from dataclasses import replace

from rearview.adapters.postgres.event_log import PostgresEventLog
from rearview.domain.event import ToolCall
from rearview.domain.forget import Forget, ForgetSession
from tests.support.writer_fixtures import WriterBench, add_namespace, request_key


async def contents(bench: WriterBench, session_id: str = "chat") -> list[str]:
    rows = await bench.rows("SELECT content FROM event WHERE session_id = %s ORDER BY sequence", session_id)
    return [row["content"] for row in rows]


async def test_a_value_keeps_its_number_in_every_language_and_spelling(bench: WriterBench) -> None:
    await bench.append(["我的手机是13812345678，老婆的是13987654321", "Call +86 138-1234-5678, mail LI@Example.com"])
    await bench.append(["把１３９８７６５４３２１删掉，邮箱还是li@example.com"])
    assert await contents(bench) == [
        "我的手机是[PHONE_1]，老婆的是[PHONE_2]",
        "Call [PHONE_1], mail [EMAIL_1]",
        "把[PHONE_2]删掉，邮箱还是[EMAIL_1]",
    ]


async def test_sessions_and_namespaces_count_for_themselves_and_share_no_hash(bench: WriterBench) -> None:
    other = replace(bench, scope=replace(bench.scope, namespace_id=bench.turn("x").event_id, namespace="others"))
    add_namespace(bench.superuser_url, other.scope)
    for place, session in ((bench, "one"), (bench, "two"), (other, "one")):
        await place.append(["电话13812345678"], session_id=session)
    assert [row["content"] for row in await bench.rows("SELECT content FROM event")] == ["电话[PHONE_1]"] * 3
    assert await bench.count("redaction_placeholder") == 3
    digests = await bench.rows("SELECT DISTINCT digest FROM redaction_placeholder")
    assert len(digests) == 3
    stored = await bench.every_text()
    assert "13812345678" not in stored


async def test_writers_in_parallel_give_each_value_one_number_and_each_number_one_value(bench: WriterBench) -> None:
    log = bench.writer.appender._log
    assert isinstance(log, PostgresEventLog)
    await bench.open_connections(log._database)
    phones = [f"1381234{number:04}" for number in range(12)]
    texts = [f"{at}: 打{phones[at % 12]}或{phones[(at * 5 + 1) % 12]}" for at in range(36)]
    await asyncio.gather(*(bench.append([text]) for text in texts))
    number_of: dict[str, set[str]] = {}
    for stored in await contents(bench):
        at = int(stored.split(":")[0])
        found = re.findall(r"\[PHONE_([0-9]+)\]", stored)
        for phone, number in zip(re.findall("1381234[0-9]{4}", texts[at]), found, strict=True):
            number_of.setdefault(phone, set()).add(number)
    assert sorted(number for numbers in number_of.values() for number in numbers) == sorted(map(str, range(1, 13)))
    assert await bench.count("redaction_placeholder") == 12


async def test_tools_and_metadata_share_the_numbers_of_the_text(bench: WriterBench) -> None:
    call = ToolCall(
        "lookup", "c1", {"phone": "467 3395", "to": ["13812345678"]}, "owner of 138 1234 5678", failed=False
    )
    turn = bench.turn("查13812345678", tool_call=call, metadata={"13812345678": "li@example.com"})
    event = (await bench.append([turn]))[0]
    assert event.content == "查[PHONE_1]"
    assert event.tool_call is not None
    assert (event.tool_call.arguments, event.tool_call.result) == (
        {"phone": "[PHONE_2]", "to": ["[PHONE_1]"]},
        "owner of [PHONE_1]",
    )
    assert event.metadata == {"[PHONE_1]": "[EMAIL_1]"}


async def test_a_repeated_request_answers_with_the_same_numbers(bench: WriterBench) -> None:
    key = request_key("AppendEvents", "numbers")
    first = await bench.append(["电话13812345678"], request=key)
    assert await bench.append(["电话13812345678"], request=key) == first
    echoed = await bench.append([f"you said {first[0].content}"])
    assert echoed[0].content == "you said 电话[PHONE_1]"
    assert echoed[0].redactions == ()


async def test_a_memory_of_a_session_has_its_numbers_and_one_of_none_has_plain_ones(bench: WriterBench) -> None:
    await bench.append(["电话13812345678"])
    inside = await bench.remember("联系 13987654321 or 138-1234-5678", session_id="chat", labels={"tel": "13987654321"})
    assert inside.memory.content == "联系 [PHONE_2] or [PHONE_1]"
    assert inside.memory.labels == {"tel": "[PHONE_2]"}
    unknown = await bench.remember("call 13987654321 soon", session_id="never-seen")
    assert unknown.memory.content == "call [PHONE] soon"
    assert (await bench.remember("打13987654321")).memory.content == "打[PHONE]"


async def test_numbers_go_when_the_session_is_erased(bench: WriterBench) -> None:
    await bench.append(["电话13812345678"])
    await bench.writer.forgetter.forget(bench.scope, Forget("notes", ForgetSession("chat")))
    assert await bench.count("redaction_placeholder") == 1, "until the purge it can be restored"
    await bench.rows("DELETE FROM session WHERE session_id = 'chat'")
    assert await bench.count("redaction_placeholder") == 0
