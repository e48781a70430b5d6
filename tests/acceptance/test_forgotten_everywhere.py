"""A word of its own is planted in each kind of thing that can be forgotten. It is found by a scan of everything before,
so that the scan is known to find it, and nowhere once the forget is VERIFIED, nor in a backup that was taken before and
is restored with the ledger. What the scan looks into, and what it does not, stands in `tests/support/stored_texts.py`.

Exports: the platform writes none. ExportMemories streams to its caller, whose file is beyond the platform's reach, and
ExportSubject is not offered. So it is shown that an export leaves nothing behind, and that what was forgotten does not
come back with one.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from minio.commonconfig import ENABLED
from minio.versioningconfig import VersioningConfig

from rearview.client import Client, ToolCall, Turn
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.bench_tiers import swept
from rearview.v1 import event_pb2, forget_pb2, memory_pb2
from tests.acceptance.conftest import CALL_TIMEOUT_SECONDS, WHOLE_STACK, in_fresh_namespace
from tests.support.client_steps import eventually, indexed, namespace_of, stored_trace, whole
from tests.support.commands import rearview
from tests.support.exports import at_rest, exported
from tests.support.stored_texts import bucket_of, places_of, superuser_in_database
from tests.support.supervised_stack import SupervisedStack, discard

KINDS = ("event", "segment", "fact", "duplicate", "summary", "trace", "answer", "cold", "export")
SYLLABLES = ("zo", "ri", "ku", "ma", "ve", "tu", "lo", "sha", "pe", "ni", "go", "dra")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
Found = dict[str, dict[str, list[str]]]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for stacks, a backup and a ledger, whose processes end with the test."""
    place = Path(tempfile.mkdtemp(prefix="rearview-forgotten-"))
    try:
        yield place
    finally:
        discard(place)
        shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Planted:
    """What is to be forgotten: memories by name, and sessions."""

    memories: list[str]
    sessions: list[str]


def connected(endpoints: Endpoints) -> Client:
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    return Client.connect(endpoints.gateway, endpoints.admin_key, timeout_seconds=CALL_TIMEOUT_SECONDS)


def words() -> dict[str, str]:
    chance = random.SystemRandom()
    return {kind: "".join(chance.choice(SYLLABLES) for _ in range(6)).capitalize() for kind in KINDS}


def plant(client: Client, word: dict[str, str]) -> Planted:
    """Plant the words, and wait until what is made of turns was made."""
    memories = {"cold": client.remember(f"The duplicate deed lies in locker {word['cold']}.").memory.name}
    client.update_namespace_policy(warm_after=SECOND, cold_after=SECOND)
    for _ in range(2):  # an earlier sweep may have taken it half of the way
        time.sleep(1.2)
        swept(client, namespace_of(client))
    assert client.get_memory(memories["cold"]).tier == memory_pb2.TIER_COLD
    client.update_namespace_policy(warm_after=timedelta(days=30), cold_after=timedelta(days=90))

    for kind, text in (
        ("trace", "The {} lighthouse is open on Sundays."),
        ("answer", "The spare key of the cellar hangs behind the {} curtain."),
        ("export", "The piano is tuned by {} every spring."),
    ):
        memories[kind] = client.remember(text.format(word[kind])).memory.name
    told = {
        "event": [
            Turn("user", "看这张图", speaker=word["event"], image_caption=f"a photo of {word['event']}"),
            Turn("user", "Another one", metadata={"note": [word["event"]]}),
            Turn(
                "tool",
                tool_call=ToolCall("booking", f"{word['event']} confirmed for two", {"garden": word["event"]}),
            ),
        ],
        "segment": [
            Turn("user", f"京都最难忘的是 {word['segment']} 的苔庭，早上七点一个人都没有。"),
            Turn("assistant", f"Yes, {word['segment']} has to be booked by postcard."),
        ],
        "fact": [Turn("user", f"I work at {word['fact']} as an engineer")],
        "first": [Turn("user", f"The winter tyres are stored at Garage {word['duplicate']}, behind the red door.")],
        "second": [Turn("user", f"The winter tyres are stored at Garage {word['duplicate']}, behind the red door.")],
        "oslo": [Turn("user", "I live in Oslo", occurred_at=NOW - timedelta(days=90))],
        "summary": [Turn("user", f"I moved to {word['summary']}", occurred_at=NOW - timedelta(days=60))],
        "bergen": [Turn("user", "I moved to Bergen", occurred_at=NOW - timedelta(days=30))],
    }
    for session, turns in told.items():
        client.append_events(session, turns)
        client.end_session(session)
        indexed(client)
    outcomes = [client.capture_trace(event.name).outcome for event in client.list_events("second")]
    assert outcomes == [event_pb2.CAPTURE_OUTCOME_MERGED]
    # By its name the first statement takes its repetition along.
    memories["duplicate"] = next(
        memory.name for memory in client.list_memories() if word["duplicate"] in memory.content
    )
    return Planted(list(memories.values()), ["event", "segment", "fact", "summary"])


def use(client: Client, endpoints: Endpoints, word: dict[str, str]) -> None:
    """Leave a trace that quotes a question and a cached answer that quotes a memory, beside what was made of turns."""
    at_rest(client, endpoints)
    asked = whole(lambda: client.recall(f"When is the {word['trace']} lighthouse open?", no_cache=True))
    stored_trace(client, asked.trace)
    eventually(
        lambda: client.recall("Where does the spare key of the cellar hang?", top_k=3),
        lambda answer: answer.cache.hit and word["answer"] in f"{answer.hits}",
        "an answer from the cache",
    )


def forget(client: Client, planted: Planted) -> None:
    """Forget all of it, and return once every receipt is verified."""
    receipts = [client.forget(memories=[name], skip_grace_period=True).name for name in planted.memories]
    receipts += [client.forget(session=session, skip_grace_period=True).name for session in planted.sessions]
    eventually(
        lambda: {client.get_forget_receipt(name).state for name in receipts},
        lambda states: states == {forget_pb2.FORGET_STATE_VERIFIED},
        "the verification",
    )


def assert_found_in_its_place(client: Client, found: Found, word: dict[str, str]) -> None:
    """Each word stands in a thing of its kind, and the scan sees it there."""
    memories = list(client.list_memories(page_size=500))

    def rows(kind: str, place: str) -> list[str]:
        return found[word[kind]].get(place, [])

    def is_told_by(kind: str, type_: int) -> bool:
        of_type = [one.name for one in memories if one.type == type_ and word[kind] in f"{one.content} {one.fact}"]
        return any(name.rpartition("/")[2] in row for name in of_type for row in rows(kind, "public.memory"))

    assert len(rows("event", "public.event")) == 3
    assert is_told_by("segment", memory_pb2.MEMORY_TYPE_EPISODE)
    assert is_told_by("fact", memory_pb2.MEMORY_TYPE_FACT)
    assert len(rows("duplicate", "public.event")) == 2
    assert len(rows("duplicate", "public.memory")) == 1
    assert is_told_by("summary", memory_pb2.MEMORY_TYPE_SUMMARY)
    assert rows("trace", "public.recall_trace")
    assert [row for row in rows("answer", "redis") if row.startswith("ans:")]
    assert [place for place in found[word["cold"]] if place.startswith("object ")]
    assert [row for row in rows("segment", "redis") if row.startswith("wm:")], "working memory"


@contextmanager
def running(folder: Path) -> Iterator[SupervisedStack]:
    """A stack over a data folder for as long as the block lasts."""
    stack = SupervisedStack(folder, WHOLE_STACK)
    try:
        yield stack.start()
    finally:
        stack.stop()


@pytest.mark.timeout(1_200)  # two stacks are started, one after the other
def test_nothing_of_what_was_forgotten_is_found_anywhere_nor_comes_back_with_an_older_backup_or_export(
    place: Path,
) -> None:
    packed, ledger, restored, word = place / "backup.tar", str(place / "ledger"), place / "restored", words()
    with running(place / "data") as source:
        endpoints = source.endpoints()

        def found() -> Found:
            return places_of(endpoints, source.folder.logs, word.values())

        bucket = bucket_of(endpoints)
        bucket.client().set_bucket_versioning(bucket_name=bucket.bucket, config=VersioningConfig(ENABLED))
        with connected(endpoints) as admin:
            client = in_fresh_namespace(admin)
            planted = plant(client, word)
            use(client, endpoints, word)
            sample(endpoints)
            before = found()
            assert_found_in_its_place(client, before, word)

            lines = exported(client, place / "export.jsonl")
            assert [line for line in lines if word["export"] in f"{line}"]
            assert found()[word["export"]].keys() == before[word["export"]].keys(), "an export leaves nothing behind"
            taken = rearview(source.folder.root, "backup", str(packed), "--json")
            assert taken.returncode == 0, taken.stderr

            forget(client, planted)

            assert_nowhere(found(), "after all was VERIFIED")
            assert rearview(source.folder.root, "ledger", "export", ledger).returncode == 0
            client.import_memories(place / "export.jsonl")
            indexed(client)
            at_rest(client, endpoints)
            assert_nowhere(found(), "after the older export was taken in again")

    done = rearview(restored, "restore", str(packed), "--ledger", ledger, "--json")
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    with running(restored) as other:
        assert_nowhere(
            places_of(other.endpoints(), other.folder.logs, word.values()), "after the older backup was restored"
        )


def sample(endpoints: Endpoints) -> None:
    """Have the database look into its columns, as it does by itself from time to time."""
    with psycopg.connect(superuser_in_database(endpoints), autocommit=True) as connection:
        connection.execute("ANALYZE")


def assert_nowhere(found: Found, when: str) -> None:
    left = {word: sorted(places) for word, places in found.items() if places}
    assert not left, f"{when}: {left}"
