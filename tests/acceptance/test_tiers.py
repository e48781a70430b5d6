"""Tiers through the public API: policies, sweeps and their operations, recall and forgetting wherever memories are."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from rearview.client import Client
from rearview.domain.errors import InvalidFields, NotFound
from rearview.domain.ids import new_id
from rearview.evaluation.bench_tiers import swept
from rearview.v1 import lifecycle_pb2, memory_pb2
from tests.support.client_steps import eventually, namespace_of, refused

TEXTS = (
    "奶奶的红烧肉要先炒冰糖。",
    "The winter tyres are at Garage Nordhof, slip GN-20417.",
    "周三 review 改到 3 楼 Aurora 会议室。",
)
ASKED = ("红烧肉怎么做？", "GN-20417", "review Aurora 会议室")
SECOND = timedelta(seconds=1)


def tiers_of(client: Client) -> dict[int, int]:
    return {tier.tier: tier.memory_count for tier in client.tier_stats().tiers if tier.memory_count}


def ended(client: Client, operation: lifecycle_pb2.Operation) -> lifecycle_pb2.Operation:
    return eventually(lambda: client.get_operation(operation.name), lambda found: found.done, "the operation")


def assert_found(client: Client, *, include_cold: bool = False) -> None:
    for query, text in zip(ASKED, TEXTS, strict=True):
        answer = client.recall(query, top_k=3, include_cold=include_cold)
        assert text in [hit.memory.content for hit in answer.hits]
        assert not answer.degraded


def test_memories_are_found_in_every_tier_and_come_back(client: Client) -> None:
    swept(client, namespace_of(client))  # so that the round leaves this namespace alone for the next hour
    names = [client.remember(text).memory.name for text in TEXTS]
    client.update_namespace_policy(warm_after=SECOND)
    time.sleep(1.1)
    planned = ended(client, client.run_sweep(dry_run=True))
    assert (planned.counts["hot_to_warm"], planned.completed) == (3, 0)
    assert tiers_of(client) == {memory_pb2.TIER_HOT: 3}

    operation = swept(client, namespace_of(client))
    assert (operation.kind, operation.total, operation.completed) == ("sweep", 3, 3)
    assert tiers_of(client) == {memory_pb2.TIER_WARM: 3}
    assert_found(client)

    client.update_namespace_policy(cold_after=SECOND)
    time.sleep(1.2)  # what was just recalled is in use
    swept(client, namespace_of(client))
    assert tiers_of(client) == {memory_pb2.TIER_COLD: 3}
    assert_found(client, include_cold=True)
    assert_found(client)
    assert [client.get_memory(name).content for name in names] == list(TEXTS)
    assert {memory.content for memory in client.list_memories()} == set(TEXTS)
    changed = client.update_memory(names[0], {"labels": {"kind": "recipe"}})
    assert (changed.content, changed.tier) == (TEXTS[0], memory_pb2.TIER_HOT)

    back = ended(client, client.rehydrate(names[1:]))
    assert (back.error, back.counts["to_hot"]) == ("", 2)
    assert tiers_of(client) == {memory_pb2.TIER_HOT: 3}
    assert_found(client)


def test_what_was_cold_is_forgotten_for_good(client: Client) -> None:
    names = [client.remember(text).memory.name for text in TEXTS]
    client.update_namespace_policy(warm_after=SECOND, cold_after=SECOND)
    time.sleep(1.1)
    swept(client, namespace_of(client))
    receipt = client.forget(memories=names[1:2], skip_grace_period=True)
    assert TEXTS[1] not in str(client.recall(ASKED[1], include_cold=True).hits)
    with refused(NotFound):
        client.get_memory(names[1])
    done = eventually(
        lambda: client.get_forget_receipt(receipt.name), lambda found: found.HasField("purge_time"), "the purge"
    )
    assert {place.place: place.count for place in done.places}["s3.cold_segment"] == 1
    assert client.get_memory(names[0]).content == TEXTS[0]


@pytest.mark.parametrize("name", ["", "operations/", "operations/x", "sweeps/1"])
def test_badly_named_operations_are_refused(client: Client, name: str) -> None:
    with refused(InvalidFields):
        client.get_operation(name)


def test_an_unknown_operation_is_not_found(client: Client) -> None:
    with refused(NotFound):
        client.get_operation(f"operations/{new_id()}")
    with refused(InvalidFields):
        client.rehydrate([])
