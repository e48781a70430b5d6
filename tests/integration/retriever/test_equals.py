"""Of what is equally near the newest comes first, so a namespace and its copy answer alike, whatever their ids."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from tests.integration.retriever.conftest import Bench
from tests.support.indexed_library import BASE, MAIN, Library, open_library
from tests.support.stack import DatabaseUrls

TEXTS = (
    "三号箱子在书房里，装着冬天的衣服。",
    "四号箱子在书房里，装着夏天的衣服。",
    "Box five is in the study, with the winter coats.",
    "Box six is in the study, with the summer coats.",
    "七号 box 在 study 里，装着 winter coats。",
)
TOLD = 60
"""More often than a route takes units."""


async def _filled(library: Library, seed: int) -> None:
    told = [(text, BASE + timedelta(hours=len(TEXTS) * at + k)) for at in range(TOLD) for k, text in enumerate(TEXTS)]
    random.Random(seed).shuffle(told)
    for text, at in told:
        await library.memory(text, occurred_at=at)
    library.index(table=MAIN)


async def test_a_copy_with_other_ids_answers_alike_and_with_the_newest(
    bench: Bench, library: Library, database: DatabaseUrls
) -> None:
    other = open_library(database.superuser, library.embedder, tenant=library.scope.tenant_id, name="copy")
    await _filled(library, seed=1)
    await _filled(other, seed=2)
    newest: dict[str, datetime] = {
        text: BASE + timedelta(hours=len(TEXTS) * (TOLD - 1) + k) for k, text in enumerate(TEXTS)
    }
    for query in ("冬天的衣服在哪个箱子里", "Which box holds the summer coats?", "study 里的 box 装着什么"):
        answers = []
        for one in (library, other):
            recalled = await bench.ask(query, one.scope, top_k=5)
            answers.append([(hit.memory.content, hit.memory.occurred_at) for hit in recalled.hits if hit.memory])
        assert answers[0] == answers[1]
        assert answers[0]
        assert all(newest[text] == at for text, at in answers[0]), query
    other.connection.close()
