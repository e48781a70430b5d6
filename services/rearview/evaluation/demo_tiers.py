"""The demo's part on tiers: swept to cold, recalled from cold, forgotten from cold."""

import time
from datetime import timedelta

from rearview.client import Client
from rearview.evaluation.bench_tiers import swept
from rearview.evaluation.claims import Claims
from rearview.evaluation.ingest import fresh_namespace
from rearview.evaluation.receipts import course, is_proof, verified
from rearview.v1 import memory_pb2

TEXTS = (
    "储藏室的备用钥匙放在蓝色花盆下面。",
    "The winter tyres are stored at Garage Nordhof, slip GN-20417.",
    "奶奶的红烧肉要先用冰糖炒色，再加黄酒。",
)
QUESTIONS = (("储藏室的备用钥匙在哪里？", 0), ("GN-20417", 1), ("How does grandmother cook the braised pork?", 2))


def show_tiers(client: Client, claims: Claims) -> None:
    """Show that memories are found and forgotten wherever they are, in a namespace of their own."""
    claims.console.rule("[bold]Tiers")
    namespace = fresh_namespace(client, "demo-tiers")
    names = [client.remember(text, namespace=namespace).memory.name for text in TEXTS]
    client.update_namespace_policy(
        namespace=namespace, warm_after=timedelta(seconds=1), cold_after=timedelta(seconds=1)
    )
    time.sleep(1.0)
    swept(client, namespace)
    counts = {tier.tier: tier.memory_count for tier in client.tier_stats(namespace=namespace).tiers}
    claims.check("unused memories went to the cold tier", counts.get(memory_pb2.TIER_COLD) == len(TEXTS))
    claims.check(
        "a cold memory is read by name, byte for byte",
        [client.get_memory(name).content for name in names] == list(TEXTS),
    )
    for query, at in QUESTIONS:
        answer = client.recall(query, namespace=namespace, include_cold=True, top_k=3)
        claims.check(
            f"“{query}” is answered from cold storage", TEXTS[at] in [hit.memory.content for hit in answer.hits]
        )
    receipt = client.forget(memories=[names[1]], namespace=namespace, skip_grace_period=True)
    answer = client.recall(QUESTIONS[1][0], namespace=namespace, include_cold=True, top_k=10)
    claims.check(
        "what is forgotten is not found in cold storage at once",
        TEXTS[1] not in [hit.memory.content for hit in answer.hits],
    )
    receipt = verified(client, receipt)
    claims.console.print(f"receipt {receipt.name}\ncourse  {course(receipt)}")
    places = {place.place: place.count for place in receipt.places}
    claims.check("its cold segment was rewritten without it", places.get("s3.cold_segment") == 1)
    claims.check(
        "the receipt says VERIFIED: nothing is left of it, in no version of any object either", is_proof(receipt)
    )
