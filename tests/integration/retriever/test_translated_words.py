"""What is said in the other language gains by what the query's words are called there, in each table of units."""

from __future__ import annotations

import pytest

from rearview.adapters.postgres.queries import load_queries
from rearview.domain.principal import Scope
from rearview.domain.recall import Recalled, Route
from tests.integration.retriever.conftest import Bench, only
from tests.support.indexed_library import FRESH, MAIN, Library

ENGLISH = [
    "The umbrella is behind the piano",
    "The ladder belongs to our neighbour",
    "Lunch was late again on Wednesday",
    "Rent is due on the first of the month",
    "She paints boats in the harbour",
    "The printer needs a new cartridge",
]
CHINESE = [
    "望远镜是爷爷送的",
    "锤子借给王强了",
    "会议改到了三楼",
    "早饭吃了豆浆油条",
    "新同事姓赵",
    "周末打算去爬山",
]


def gained(recalled: Recalled) -> list[str]:
    return [hit.memory.content for hit in recalled.hits if hit.memory and hit.score.fusion_terms["translation"]]


@pytest.fixture(params=[FRESH, MAIN, "warm"])
async def said(request: pytest.FixtureRequest, library: Library) -> Scope:
    memories = [await library.memory(text) for text in (*ENGLISH, *CHINESE)]
    library.index(table=FRESH if request.param == FRESH else MAIN)
    if request.param == "warm":
        place = {"tenant_id": library.scope.tenant_id, "namespace_id": library.scope.namespace_id}
        move = load_queries("tier_units", library.ordinal)["warm_from_main"]
        library.connection.execute(move, {**place, "memory_ids": memories})
    return library.scope


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("雨伞在钢琴后面吗", ENGLISH[0]),
        ("梯子是邻居的吗", ENGLISH[1]),
        ("Who gave us the telescope, grandpa?", CHINESE[0]),
        ("Did we lend the hammer?", CHINESE[1]),
    ],
)
async def test_the_answer_in_the_other_language_gains_and_comes_first(
    bench: Bench, said: Scope, query: str, answer: str
) -> None:
    recalled = await bench.ask(query, said)
    assert recalled.hits[0].memory is not None
    assert recalled.hits[0].memory.content == answer
    assert gained(recalled) == [answer]


@pytest.mark.parametrize("query", ["会议在几楼开", "谁姓赵 and the umbrella", "Lunch on Wednesday", "???"])
async def test_nothing_gains_by_chance(bench: Bench, said: Scope, query: str) -> None:
    assert not gained(await bench.ask(query, said))


async def test_without_the_keyword_route_nothing_gains(bench: Bench, said: Scope) -> None:
    recalled = await bench.ask("雨伞在钢琴后面吗", said, disabled_routes=only(Route.VECTOR))
    assert recalled.hits
    assert not gained(recalled)
