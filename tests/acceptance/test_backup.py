"""A stack backed up while it runs and restored elsewhere: the same memories, and nothing that was forgotten since."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from rearview.client import Client, Turn
from rearview.domain.errors import NamespaceDenied
from rearview.evaluation.bench_tiers import swept
from rearview.lifecycle.fault_points import RESTORE_POINTS
from rearview.v1 import forget_pb2
from tests.acceptance.conftest import CALL_TIMEOUT_SECONDS, WHOLE_STACK, in_fresh_namespace
from tests.support.client_steps import apart_from_use, eventually, indexed, namespace_of, refused, texts_of
from tests.support.commands import last_json, rearview
from tests.support.stored_texts import object_versions, places_of
from tests.support.supervised_stack import SupervisedStack, discard

POINTS = RESTORE_POINTS if os.environ.get("REARVIEW_TEST_PROFILE") == "thorough" else ()
KEPT = (
    Turn("user", "大阪订的是难波的酒店，靠近地铁站。"),
    Turn("assistant", "难波交通方便，去 Mizuno 吃 okonomiyaki 也近。"),
    Turn("user", "The winter tyres are at Garage Nordhof, slip GN-20417."),
)
FORGOTTEN = (
    Turn("user", "对了，备用钥匙藏在青瓷花瓶后面。"),
    Turn("user", "And the safe opens with quillmarzipan nine. My parrot is called Zerbinetta."),
)
COLD_KEPT = "奶奶的红烧肉要先炒冰糖, then simmer for two hours."
COLD_FORGOTTEN = "The duplicate deed lies in locker XQ-88123, 钥匙在翡翠盒里。"
DELETED = "银杏计划 launches as project Umberquartz."
MARKS = ("青瓷花瓶", "quillmarzipan", "Zerbinetta", "XQ-88123", "翡翠盒", "银杏计划", "Umberquartz")
SECOND = timedelta(seconds=1)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for backups, ledgers and restored stacks, whose processes end with the test."""
    place = Path(tempfile.mkdtemp(prefix="rearview-restored-"))
    try:
        yield place
    finally:
        discard(place)
        shutil.rmtree(place, ignore_errors=True)


def memories_of(client: Client) -> dict[str, object]:
    return {memory.name: apart_from_use(client.get_memory(memory.name)) for memory in client.list_memories()}


def verified(client: Client, name: str) -> forget_pb2.ForgetReceipt:
    return eventually(
        lambda: client.get_forget_receipt(name),
        lambda found: found.state == forget_pb2.FORGET_STATE_VERIFIED,
        f"the verification of {name}",
    )


@pytest.mark.timeout(1_200)  # a stack more is started, stopped and started
def test_a_restored_stack_holds_what_was_kept_and_nothing_that_was_forgotten_since(
    stack: SupervisedStack, client: Client, admin: Client, place: Path
) -> None:
    doomed = in_fresh_namespace(admin)
    doomed.remember(DELETED)
    client.update_namespace_policy(warm_after=SECOND, cold_after=SECOND)
    names = [client.remember(text).memory.name for text in (COLD_KEPT, COLD_FORGOTTEN)]
    for _ in range(2):  # hot to warm, warm to cold
        time.sleep(1.2)
        swept(client, namespace_of(client))
    client.update_namespace_policy(warm_after=timedelta(days=30), cold_after=timedelta(days=90))
    client.append_events("trip", [*KEPT, *FORGOTTEN])
    client.end_session("trip")
    indexed(client)
    data = stack.folder.root

    packed = place / "backup.tar"
    taken = rearview(data, "backup", str(packed), "--json")
    assert taken.returncode == 0, taken.stderr
    assert last_json(taken)["objects"] >= 1

    receipts = [
        client.forget(session="trip", last_turns=2, skip_grace_period=True).name,
        client.forget(memories=[names[1]], skip_grace_period=True).name,
    ]
    admin.delete_namespace(namespace_of(doomed), force=True)
    for name in receipts:
        verified(client, name)
    before, events = memories_of(client), [event.content for event in client.list_events("trip")]
    ledger = str(place / "ledger")
    assert rearview(data, "ledger", "export", ledger).returncode == 0
    assert not [mark for mark in MARKS if mark in (place / "ledger").read_text()]

    restored = place / "restored"
    refusals_touch_nothing(packed, restored, ledger)
    restore_killed_on_its_way(packed, restored, ledger)
    done = rearview(restored, "restore", str(packed), "--ledger", ledger, "--json")
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    # A restore that was killed after its replay had deleted it already.
    assert last_json(done)["ledger_deleted"] == (0 if POINTS else 1)

    other = SupervisedStack(restored, WHOLE_STACK).start()
    try:
        endpoints = other.endpoints()
        gone = [name.rpartition("/")[2].replace("-", "") for name in names[1:]]
        assert not [
            key for key, data in object_versions(endpoints).items() for each in gone if bytes.fromhex(each) in data
        ]
        assert endpoints.gateway is not None
        assert endpoints.admin_key is not None
        with Client.connect(endpoints.gateway, endpoints.admin_key, timeout_seconds=CALL_TIMEOUT_SECONDS) as connected:
            mine = connected.with_options(namespace=namespace_of(client))
            assert memories_of(mine) == before
            assert [event.content for event in mine.list_events("trip")] == events
            assert COLD_KEPT in [hit.memory.content for hit in mine.recall("红烧肉怎么做？", include_cold=True).hits]
            assert "难波" in texts_of(mine.recall("大阪住在哪里？"))[0]
            assert "GN-20417" in texts_of(mine.recall("Where are the winter tyres?"))[0]
            for name in receipts:
                assert mine.get_forget_receipt(name).state == forget_pb2.FORGET_STATE_VERIFIED
            with refused(NamespaceDenied):
                connected.get_namespace(namespace_of(doomed))
            assert connected.verify_audit().intact
            assert not [*filter(None, places_of(endpoints, other.folder.logs, MARKS).values())]
            assert not [mark for mark in MARKS for hit in mine.recall(mark).hits if mark in f"{hit}"]
    finally:
        other.stop()


def refusals_touch_nothing(backup: Path, target: Path, ledger: str) -> None:
    """No ledger, or a damaged part: refused by name, before anything is there."""
    without = rearview(target, "restore", str(backup), "--json")
    assert last_json(without)["reason"] == "RESTORE_LEDGER_MISSING"
    with tarfile.open(backup) as archive:
        part = next(each for each in archive if each.name.startswith("objects/") and "audit" not in each.name)
    content = bytearray(backup.read_bytes())
    content[part.offset_data + part.size // 2] ^= 1
    broken = backup.with_name("broken.tar")
    broken.write_bytes(content)
    damaged = rearview(target, "restore", str(broken), "--ledger", ledger, "--json")
    assert last_json(damaged)["reason"] == "BACKUP_PART_DAMAGED"
    assert part.name in last_json(damaged)["error"]
    assert not target.exists()


def restore_killed_on_its_way(backup: Path, target: Path, ledger: str) -> None:
    """Killed at each of its points, one after the other; nothing is served from what is left."""
    for point in POINTS:
        killed = rearview(target, "restore", str(backup), "--ledger", ledger, REARVIEW_FAULT_POINT=point)
        assert killed.returncode == -9, f"{point}: {killed.stderr}"
        up = rearview(target, "up", "--json")
        assert up.returncode == 1
        assert "did not come to its end" in last_json(up)["error"]
