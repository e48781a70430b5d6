"""Of what is equally near the newest is found, so a namespace and its copy answer alike, whatever their ids."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from rearview.domain.recall import Route
from rearview.language.keyword_hashes import KeywordHashes
from rearview.ports.found_units import route_bit
from rearview.ports.recall_store import Search
from tests.integration.retriever.conftest import Bench
from tests.support.indexed_library import BASE, MAIN, Library, open_library
from tests.support.stack import DatabaseUrls

TEXTS = ("三号箱子在书房里，装着冬天的衣服。", "Box five is in the study, with the winter coats.")
QUERIES = ("冬天的衣服在哪个箱子里", "Which box holds the winter coats?", "winter coats 在哪个箱子里")
TOLD = 120
LIMIT = 100


async def _fill(library: Library, seed: int) -> None:
    told = [(text, BASE + timedelta(hours=2 * at + second)) for at in range(TOLD) for second, text in enumerate(TEXTS)]
    random.Random(seed).shuffle(told)
    for text, at in told:
        await library.memory(text, occurred_at=at)
    library.index(table=MAIN)


async def _found(bench: Bench, library: Library, query: str, route: Route) -> list[datetime]:
    """When that was said which a route finds, latest first."""
    generation = bench.embedder.generation
    vector = generation.centre_one(await bench.embedder.embed_query(query))
    terms = Counter(KeywordHashes().keywords(library.scope.namespace_id, query))
    search = Search(
        library.scope,
        terms={term: float(count) for term, count in terms.items()} if route is Route.KEYWORD else {},
        vector=vector if route is Route.VECTOR else None,
        folded_query="",
        now=datetime.now(UTC),
        limit=LIMIT,
    )
    answering = await bench.store.answering_generation(library.scope.tenant_id)
    (found,) = await bench.store.search(library.scope.tenant_id, [search], answering, timeout_seconds=60)
    rows = found.units.routes & route_bit(route) != 0
    return sorted((datetime.fromtimestamp(at, UTC) for at in found.units.occurred_at[rows]), reverse=True)


async def test_a_copy_with_other_ids_finds_the_same_and_the_newest(
    bench: Bench, library: Library, database: DatabaseUrls
) -> None:
    copy = open_library(database.superuser, library.embedder, tenant=library.scope.tenant_id, name="copy")
    await _fill(library, seed=1)
    await _fill(copy, seed=2)
    latest = [BASE + timedelta(hours=hour) for hour in range(2 * TOLD - 1, -1, -1)]
    for query in QUERIES:
        by_vector = await _found(bench, library, query, Route.VECTOR)
        assert by_vector == await _found(bench, copy, query, Route.VECTOR), query
        assert by_vector == latest[: 2 * LIMIT], "the newest hundred of each language"
        by_keyword = await _found(bench, library, query, Route.KEYWORD)
        assert by_keyword == await _found(bench, copy, query, Route.KEYWORD), query
        assert len(by_keyword) == LIMIT
        assert by_keyword[0] >= latest[1]
    copy.connection.close()
