"""Exports and imports through the public client: what comes back is what was there, and nothing that was forgotten."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rearview.client import AsyncClient, Client, Turn
from rearview.client.exchange_calls import IMPORT_PATH
from rearview.domain.errors import FeatureNotOffered, InvalidFields, NamespaceDenied, RoleInsufficient
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.bench_tiers import swept
from rearview.evaluation.ingest import append_session
from rearview.v1 import forget_pb2, memory_pb2, recall_pb2
from rearview.v1 import memory_service_pb2 as pb
from tests.acceptance.conftest import CALL_TIMEOUT_SECONDS, in_fresh_namespace
from tests.acceptance.conversations import CONVERSATIONS
from tests.support.client_steps import eventually, indexed, namespace_of, out_of_the_cache, refused, text_of, whole
from tests.support.commands import last_json, rearview
from tests.support.exports import at_rest, exported, made, sealed
from tests.support.supervised_stack import ROOT, SupervisedStack, environment

QUERIES = [question.query for one in CONVERSATIONS for question in one.questions.values()]
ALL_STATES = ["active", "superseded", "inactive"]
SECOND = timedelta(seconds=1)
PARCELS = 800


@pytest.fixture(scope="module")
def source(admin: Client, endpoints: Endpoints) -> Client:
    """A namespace with conversations in Chinese, English and both, facts that changed, labels and pins, at rest."""
    client = in_fresh_namespace(admin)
    client.remember("沙发的预算是八千元", type="fact")
    client.remember("沙发的预算改成一万二", type="fact", pinned=True, labels={"project": "sofa"}, priority=0.9)
    client.remember(
        "The spare fuse is in the grey box", metadata={"shelf": 3}, expires_at=datetime(2090, 1, 1, tzinfo=UTC)
    )
    for conversation in CONVERSATIONS:
        for session, turns in conversation.sessions.items():
            append_session(client, namespace_of(client), f"{conversation.name}-{session}", turns, lambda _: None)
    # A turn of both languages that states facts of either.
    both = "刘洋对虾过敏，聚餐时不要点。 My mother lives in Boston now, and Peter works as a nurse."
    append_session(client, namespace_of(client), "both-languages", [Turn("user", both)], lambda _: None)
    indexed(client)
    at_rest(client, endpoints)
    return client


def _relevances(client: Client, query: str) -> dict[str, float]:
    # What was used lately counts, and is counted a while later: relevance alone is the same at any moment, but of an
    # outdated value, whose whole score is set just below its successor's.
    answer = whole(lambda: client.recall(query, top_k=100, no_cache=True))
    return {text_of(hit): 0.0 if "outdated" in hit.score.fusion_terms else hit.score.relevance for hit in answer.hits}


def _plain(memory: memory_pb2.Memory) -> dict[str, Any]:
    """Return what a memory says, whatever its namespace, ids and tier."""
    rest = memory_pb2.Memory()
    rest.CopyFrom(memory)
    for name in ("name", "superseded_by", "events", "session", "tier", "access_count", "last_access_time", "etag"):
        rest.ClearField(name)
    session = memory.session.rpartition("/")[2]
    return {"memory": rest.SerializeToString(deterministic=True), "session": session, "events": len(memory.events)}


def _everything(client: Client) -> list[dict[str, Any]]:
    memories = sorted(
        client.list_memories(states=ALL_STATES), key=lambda one: (one.create_time.ToNanoseconds(), one.content)
    )
    return [_plain(memory) for memory in memories]


def _turns(client: Client) -> list[tuple[str, list[bytes]]]:
    found = []
    for session in client.list_sessions():
        events = list(client.list_events(session.name.rpartition("/")[2]))
        for event in events:
            event.ClearField("name")
        found.append(
            (session.name.rpartition("/")[2], [event.SerializeToString(deterministic=True) for event in events])
        )
    return sorted(found)


def _units(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return what exported memories are found by; hashes of terms are another namespace's, their weights are not."""
    return sorted(
        (line["content"], unit["occurred_at"], unit["flags"], sorted(unit["weights"]), unit["vector"])
        for line in lines
        if line["kind"] == "memory"
        for unit in line["units"]
    )


def test_an_empty_namespace_becomes_what_was_exported(source: Client, admin: Client, tmp_path: Path) -> None:
    lines = exported(source, tmp_path / "all.jsonl")
    assert [line["kind"] for line in (lines[0], lines[-1])] == ["manifest", "end"]
    events, memories = lines[-1]["events"], lines[-1]["memories"]
    copy = in_fresh_namespace(admin)

    planned = copy.import_memories(tmp_path / "all.jsonl", dry_run=True)
    assert (planned.stored_count, planned.stored_event_count, planned.complete) == (memories, events, False)
    assert not list(copy.list_memories())

    seen: list[tuple[int, int]] = []
    result = copy.import_memories(tmp_path / "all.jsonl", on_lines=lambda *done: seen.append(done))
    assert (result.stored_count, result.stored_event_count, result.complete) == (memories, events, True)
    assert (result.made_vector_count, result.problem_count, result.refused_count) == (0, 0, 0)
    assert result.carried_vector_count == planned.carried_vector_count > 0
    assert seen[-1] == (len(lines), len(lines))
    assert _everything(copy) == _everything(source)
    assert _turns(copy) == _turns(source)
    assert _units(exported(copy, tmp_path / "copy.jsonl")) == _units(lines)
    for query in QUERIES:
        # Sums of 32-bit numbers in another order differ in their last digits.
        assert _relevances(copy, query) == pytest.approx(_relevances(source, query), abs=2e-4), query
    history = [list(one.memory_history(_name_of(one, "沙发的预算改成一万二"))) for one in (copy, source)]
    assert [[memory.content for memory in values] for values in history] == [
        ["沙发的预算改成一万二", "沙发的预算是八千元"]
    ] * 2

    again = copy.import_memories(tmp_path / "all.jsonl")
    assert (again.stored_count, again.unchanged_count, again.unchanged_event_count) == (0, memories, events)
    assert _everything(copy) == _everything(source)


def _name_of(client: Client, content: str) -> str:
    return next(memory.name for memory in client.list_memories() if memory.content == content)


async def test_every_tier_is_exported_and_read_by_the_async_client(
    admin: Client, endpoints: Endpoints, tmp_path: Path
) -> None:
    client = in_fresh_namespace(admin)
    texts = (
        "奶奶的红烧肉要先炒冰糖。",
        "The winter tyres are at Garage Nordhof, slip GN-20417.",
        "周三 review 改到 Aurora 会议室。",
    )
    client.remember(texts[0])
    client.update_namespace_policy(warm_after=SECOND, cold_after=SECOND)
    await asyncio.sleep(1.2)
    swept(client, namespace_of(client))
    client.update_namespace_policy(warm_after=SECOND, cold_after=timedelta(days=90))
    client.remember(texts[1])
    await asyncio.sleep(1.2)
    swept(client, namespace_of(client))
    client.remember(texts[2])
    copy = in_fresh_namespace(admin)
    file = tmp_path / "tiers.jsonl"
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    async with AsyncClient.connect(
        endpoints.gateway, endpoints.admin_key, timeout_seconds=CALL_TIMEOUT_SECONDS
    ) as other:
        lines = [line async for line in other.export_memories(namespace_of(client))]
        file.write_text("\n".join(lines), encoding="utf-8")
        result = await other.import_memories(file, namespace_of(copy))
    assert [json.loads(line)["tier"] for line in lines[1:-1]] == ["cold", "warm", "hot"]
    assert (result.stored_count, result.carried_vector_count) == (3, 3)
    tiers = {memory.content: memory.tier for memory in copy.list_memories()}
    assert [tiers[text] for text in texts] == [memory_pb2.TIER_WARM, memory_pb2.TIER_WARM, memory_pb2.TIER_HOT]
    for query, text in zip(("红烧肉怎么做？", "GN-20417", "review Aurora 会议室"), texts, strict=True):
        assert text_of(copy.recall(query).hits[0]) == text


def test_an_import_that_is_killed_goes_on_where_it_was(client: Client, stack: SupervisedStack, tmp_path: Path) -> None:
    file = made(
        tmp_path / "many.jsonl", [{"content": f"第{at}号柜子 holds parcel PX-{at:05}"} for at in range(PARCELS)]
    )
    arguments = ["import", str(file), "--namespace", namespace_of(client), "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rearview.cli", *arguments],
        cwd=ROOT,
        env=environment(REARVIEW_HOME=str(stack.folder.root)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    eventually(lambda: client.tier_stats().tiers[0].memory_count, lambda count: count > 0, "the first memories")
    process.kill()
    process.wait()
    result = rearview(stack.folder.root, *arguments, "--resume")
    assert result.returncode == 0, result.stderr
    counts = last_json(result)
    assert counts["complete"]
    assert counts["unchanged_count"] == 0  # what was there is not even looked at
    assert 0 < counts["stored_count"] < PARCELS
    stored = [memory.content for memory in client.list_memories()]
    assert len(set(stored)) == len(stored) == PARCELS


@pytest.fixture
def three(tmp_path: Path) -> Path:
    return made(tmp_path / "three.jsonl", [{"content": text} for text in ("一号", "number two", "三号 three")])


def _cut(lines: list[str]) -> list[str]:
    return lines[:-1]


def _changed(lines: list[str]) -> list[str]:
    return [line.replace("number two", "number 22") for line in lines]


def _of_another_version(lines: list[str]) -> list[str]:
    return [lines[0].replace('"schema_version": 1', '"schema_version": 2'), *lines[1:]]


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (_cut, "three.jsonl"),
        (_changed, "three.jsonl:5.checksum"),
        (_of_another_version, "three.jsonl:1.schema_version"),
    ],
)
def test_a_spoilt_file_stores_nothing(client: Client, three: Path, spoil: Any, field: str) -> None:
    three.write_text("\n".join(spoil(three.read_text(encoding="utf-8").splitlines())), encoding="utf-8")
    with refused(InvalidFields, field):
        client.import_memories(three)
    assert not list(client.list_memories())


def test_the_server_looks_at_the_checksum_too(client: Client, three: Path, endpoints: Endpoints) -> None:
    lines = _changed(three.read_text(encoding="utf-8").splitlines())
    messages = [pb.ImportMemoriesRequest(line=line) for line in lines]
    messages[0].parent = f"namespaces/{namespace_of(client)}"
    with refused(InvalidFields, "checksum"):
        client._upload(IMPORT_PATH, messages, pb.ImportMemoriesResponse.FromString)


def test_of_a_bad_line_nothing_is_stored_and_all_others_are(
    client: Client, tmp_path: Path, stack: SupervisedStack
) -> None:
    bad: list[dict[str, Any]] = [
        {"content": "好的一行"},
        {"content": "priority is wrong", "priority": 7},
        {"content": "so is the time", "occurred_at": "yesterday"},
        {"content": ""},
        {"content": "坏的\0字符"},
        {"content": "another good one"},
    ]
    file = made(tmp_path / "bad.jsonl", bad)
    result = rearview(stack.folder.root, "import", str(file), "--namespace", namespace_of(client), "--json")
    assert result.returncode == 3, result.stderr
    counts = last_json(result)
    assert (counts["stored_count"], counts["problem_count"], counts["complete"]) == (2, 4, True)
    starts = ["line 3: priority: ", "line 4: occurred_at: ", "line 5: content: ", "line 6: content: "]
    assert [
        problem for problem, start in zip(counts["problems"], starts, strict=True) if not problem.startswith(start)
    ] == []
    assert {memory.content for memory in client.list_memories()} == {"好的一行", "another good one"}


def test_what_was_forgotten_stays_so_here_and_elsewhere(admin: Client, endpoints: Endpoints, tmp_path: Path) -> None:
    client, copy = in_fresh_namespace(admin), in_fresh_namespace(admin)
    kept, gone = "京都住在岚山的旅馆。", "The safe of the hotel opens with marzipan nine."
    append_session(client, namespace_of(client), "trip", [Turn("user", kept), Turn("user", gone)], lambda _: None)
    explicit = client.remember("保险柜的钥匙在花盆下面").memory
    indexed(client)
    at_rest(client, endpoints)
    lines = exported(client, tmp_path / "before.jsonl")
    events = list(client.list_events("trip"))
    client.forget(memories=[explicit.name], skip_grace_period=True)
    receipt = client.forget(session="trip", last_turns=1, skip_grace_period=True)
    assert receipt.event_count == 1
    for target in (client, copy):
        result = target.import_memories(tmp_path / "before.jsonl")
        assert (result.refused_event_count, result.complete) == (1, True)
        assert result.refused_count >= 1
        assert [event.content for event in target.list_events("trip")] == [kept]
        everything = str(list(target.list_memories(states=ALL_STATES)))
        assert "marzipan" not in everything
        assert "花盆" not in everything
        for query in ("marzipan nine", "How does the safe open?", "保险柜的钥匙在哪里？"):
            answer = target.recall(query, top_k=100, include_cold=True)
            assert "marzipan" not in f"{answer.hits}{answer.context}"
            assert "花盆" not in f"{answer.hits}{answer.context}"
        assert kept in text_of(target.recall("京都住在哪里？").hits[0])
    assert len(events) == lines[-1]["events"] == 2
    # What was imported is forgotten like all else, and every place is searched for it.
    own = [memory.name for memory in copy.list_memories()]
    receipt = copy.forget(memories=own, skip_grace_period=True)
    done = eventually(
        lambda: copy.get_forget_receipt(receipt.name),
        lambda found: found.state == forget_pb2.FORGET_STATE_VERIFIED,
        "the verification",
    )
    assert done.memory_count == len(own)
    for target in (client, copy):
        everything = "".join(target.export_memories())
        assert "marzipan" not in everything
        assert "花盆" not in everything
    assert copy.import_memories(tmp_path / "before.jsonl").stored_count == 0
    assert not list(copy.list_memories())


def test_a_cached_answer_does_not_survive_an_import(client: Client, tmp_path: Path) -> None:
    client.remember("备用钥匙在邻居那里")

    def ask() -> recall_pb2.RecallResponse:
        return client.recall("备用钥匙在哪里放着")

    out_of_the_cache(ask)
    client.import_memories(made(tmp_path / "one.jsonl", [{"content": "备用钥匙现在挂在车库里"}]))
    after = ask()
    assert not after.cache.hit
    assert "备用钥匙现在挂在车库里" in [text_of(hit) for hit in after.hits]


def test_policies_hold_for_what_is_imported(client: Client, tmp_path: Path) -> None:
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    file = made(
        tmp_path / "policies.jsonl",
        [
            {"content": "我的手机号是13812345678，打这个。", "metadata": {"mail": "lena@example.org"}},
            {"content": "expired long ago", "expires_at": past},
        ],
    )
    result = client.import_memories(file)
    assert (result.stored_count, result.expired_count, result.redacted_count) == (1, 1, 1)
    memory = next(client.list_memories())
    assert "13812345678" not in str(memory)
    assert "lena@example.org" not in str(memory)
    assert set(memory.redactions) == {"PHONE", "EMAIL"}


def test_the_value_that_was_told_last_is_the_active_one(client: Client, tmp_path: Path) -> None:
    client.remember("沙发的预算是八千元", type="fact")
    lines = exported(client, tmp_path / "old.jsonl")
    values = [line for line in lines if line["kind"] == "memory" and "fact" in line]
    assert values
    now = client.remember("沙发的预算改成一万二", type="fact").memory
    for line in values:
        line["id"] = f"{line['id'][:-4]}0000"
        line.pop("units", None)
    result = client.import_memories(sealed(tmp_path / "other.jsonl", [lines[0], *values]))
    assert result.stored_count == result.superseded_count == len(values)
    active = [memory.content for memory in client.list_memories() if memory.HasField("fact")]
    assert active == [now.content]


def test_who_may_not_read_or_write_may_not_export_or_import(
    admin: Client, client: Client, endpoints: Endpoints, three: Path
) -> None:
    key = admin.create_api_key("exchange-guest", "read").secret
    assert endpoints.gateway is not None
    with Client.connect(endpoints.gateway, key, namespace=namespace_of(client)) as guest:
        with refused(NamespaceDenied):
            next(guest.export_memories())
        client.grant_access("exchange-guest")
        assert json.loads(next(guest.export_memories()))["kind"] == "manifest"
        with refused(RoleInsufficient):
            guest.import_memories(three)
    request = pb.ExportMemoriesRequest(parent=f"namespaces/{namespace_of(client)}")
    request.filter.session = f"{request.parent}/sessions/one"
    with refused(FeatureNotOffered):
        next(
            client._download("/rearview.v1.MemoryService/ExportMemories", request, pb.ExportMemoriesResponse.FromString)
        )


def test_a_whole_tenant_is_exported_namespace_by_namespace(
    admin: Client, stack: SupervisedStack, tmp_path: Path
) -> None:
    two_namespaces = in_fresh_namespace(admin), in_fresh_namespace(admin)
    for one, text in zip(two_namespaces, ("只在第一个里面", "only in the second one"), strict=True):
        one.remember(text)
    file = tmp_path / "tenant.jsonl"
    result = rearview(stack.folder.root, "export", str(file), "--all", "--json")
    assert result.returncode == 0, result.stderr
    assert not list(tmp_path.glob("*.part"))
    counts = last_json(result)
    manifests = [
        json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if '"kind":"manifest"' in line
    ]
    assert len(manifests) == counts["namespaces"]
    names = {manifest["namespace"] for manifest in manifests}
    assert {namespace_of(one) for one in two_namespaces} <= names
    piped = rearview(stack.folder.root, "export", "-", "--namespace", namespace_of(two_namespaces[0]))
    assert [json.loads(line)["kind"] for line in piped.stdout.splitlines()] == ["manifest", "memory", "end"]


MEM0 = {
    "results": [
        {
            "id": "7f1c6f9e-3f0d-4c52-9a53-1d8f2f7e8a10",
            "memory": "小林对花生过敏",
            "hash": "0a1b",
            "metadata": {"source": "chat"},
            "categories": ["health"],
            "created_at": "2026-01-05T10:00:00-08:00",
            "updated_at": None,
            "user_id": "lin",
        }
    ]
}
HINDSIGHT = {
    "items": [
        {
            "id": "550e8400-e29b-41d4-a716-446655440000",
            "text": "Alice moved to the AI team in Zürich",
            "context": "work conversation",
            "date": "2026-01-15T10:30:00Z",
            "fact_type": "world",
            "entities": "Alice (PERSON), Zürich (LOCATION)",
        }
    ],
    "total": 1,
    "limit": 100,
    "offset": 0,
}


@pytest.mark.parametrize(
    ("peer", "content", "query", "text"),
    [
        ("mem0", MEM0, "小林不能吃什么？", "小林对花生过敏"),
        ("hindsight", HINDSIGHT, "Which team is Alice in?", "Alice moved to the AI team in Zürich"),
    ],
)
def test_exports_of_peers_move_in(
    client: Client, stack: SupervisedStack, tmp_path: Path, peer: str, content: Any, query: str, text: str
) -> None:
    file = tmp_path / f"{peer}.json"
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    arguments = ["import", str(file), "--from", peer, "--namespace", namespace_of(client), "--json"]
    for stored in (1, 0):
        assert last_json(rearview(stack.folder.root, *arguments))["stored_count"] == stored
    assert text_of(client.recall(query).hits[0]) == text
    memory = next(client.list_memories())
    assert memory.trust == memory_pb2.TRUST_DERIVED
    assert memory.occurred_at.ToDatetime().year == 2026
    if peer == "mem0":
        assert dict(memory.labels) == {"user_id": "lin"}
        assert memory.metadata["categories"] == ["health"]
    else:
        assert {entity.text for entity in memory.entities} == {"Alice", "Zürich"}
