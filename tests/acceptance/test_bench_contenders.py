"""Every contender of `make bench` keeps a small data set and finds it again, in its own environment.

Rearview always does; the others where `make bench-peers` has made their environments, which takes downloads.
"""

from base64 import b64decode
from pathlib import Path

import httpx
import numpy as np
import psycopg
import pytest
from psycopg import sql
from rich.progress import Progress

from loadtest.bench.contender import Item, Query
from loadtest.bench.contest import DATABASE_PREFIX, contest
from loadtest.bench.datasets import Asked, Dataset
from loadtest.bench.embedding_client import PASSAGE, QUERY
from loadtest.bench.measure import keeping, one_round, quality
from loadtest.bench.rival import OWN, RIVALS, embedding_endpoint, python_of
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.progress import Steps
from tests.support.supervised_stack import SupervisedStack

PURPOSE = "tiny"
SAID = {
    "D1:1": ("Anna", "I planted tulips behind the old greenhouse on Sunday."),
    "D1:2": ("Ben", "My brother repairs violins in Cremona."),
    "D1:3": ("Anna", "下个月我要去青岛参加帆船比赛。"),
    "D1:4": ("Ben", "那家面馆的老板姓欧阳,做的是兰州拉面。"),
}
ASKED = {
    "Where does Ben's brother repair violins?": "D1:2",
    "青岛的帆船比赛是谁要去参加?": "D1:3",
}
DATASET = Dataset(
    {
        "tiny": [
            Item(name, text, "session-1", speaker, "2024-05-01T10:00:00+00:00")
            for name, (speaker, text) in SAID.items()
        ],
        "other": [Item("D1:1", "My sister repairs violins in Paris.", "session-1", "Eve", "2024-05-01T10:00:00+00:00")],
    },
    [
        Asked("tiny", Query(text, asked_at="2024-05-02T10:00:00+00:00"), frozenset([name]))
        for text, name in ASKED.items()
    ]
    + [Asked("other", Query("Where does the sister repair violins?"), frozenset(["D1:1"]))],
)


@pytest.mark.parametrize("name", [OWN, *RIVALS])
def test_what_is_kept_is_found_by_its_source(
    name: str, stack: SupervisedStack, endpoints: Endpoints, tmp_path: Path
) -> None:
    if not python_of(name).exists():
        pytest.skip(f"SKIPPED: {name} has no environment; `make bench-peers` makes it")
    steps = Steps(Progress(disable=True))
    try:
        with contest(tmp_path, PURPOSE, [name], stack.folder) as contenders:
            found = quality(contenders, name, DATASET, steps)
            assert (found["recall@5"], found["kept"], found["asked"]) == (1.0, 5, 3)
            assert 0 < found["p50_ms"] <= found["p95_ms"]
            kept = keeping(contenders, name, Dataset({"tiny": DATASET.spaces["tiny"]}, []), 2, steps)
            assert kept["per_s"] > 0
            assert kept["cpu_ms"]["total"] > 0
            assert (kept["cpu_ms"]["embedding"] > 0) == (name != OWN)
            asked = one_round(contenders, {name: kept["space"]}, DATASET.asked * 10, 2, 30.0, steps)
            assert len(asked[name]["seconds"]) == 3 * 10 - 20
    finally:
        with psycopg.connect(endpoints.postgres_superuser_url, autocommit=True) as connection:
            database = sql.Identifier(f"{DATABASE_PREFIX}{PURPOSE}_{name}")
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))


def test_the_endpoint_gives_the_vectors_of_the_prompts(stack: SupervisedStack) -> None:
    with embedding_endpoint(stack.folder.models) as (url, _):
        texts = [QUERY + "四川在哪里", PASSAGE + "四川在哪里", "四川在哪里"]
        asked = {"model": "multilingual-e5-small", "input": texts}
        plain = httpx.post(f"{url}/embeddings", json=asked, timeout=60).json()["data"]
        packed = httpx.post(f"{url}/embeddings", json={**asked, "encoding_format": "base64"}, timeout=60).json()["data"]
    query, passage, bare = (np.array(entry["embedding"], dtype=np.float32) for entry in plain)
    assert query @ passage < 0.999
    np.testing.assert_allclose(bare, passage, atol=1e-5)
    for entry, row in zip(packed, (query, passage, bare), strict=True):
        np.testing.assert_allclose(np.frombuffer(b64decode(entry["embedding"]), "<f4"), row, atol=1e-6)
