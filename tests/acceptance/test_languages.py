"""What was said in one language is found in the other, by what its words are called there."""

import pytest

from rearview.client import Client
from tests.support.client_steps import whole

OTHER_ROUTES = ["vector", "entity", "time", "working_memory", "raw_turns"]
KEPT = {
    "umbrella": "The umbrella is behind the piano.",
    "ladder": "The ladder belongs to our neighbour.",
    "telescope": "望远镜是爷爷送的。",
    "hammer": "锤子借给王强了。",
    "cheese": "冰箱里的 cheese 是给奶奶的。",
}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("雨伞在哪儿？", "umbrella"),
        ("谁的梯子？", "ladder"),
        ("Who gave us the telescope?", "telescope"),
        ("What about that hammer?", "hammer"),
        ("奶酪是给谁的？", "cheese"),
        ("哪里有 umbrella 和雨伞？", "umbrella"),
    ],
)
def test_keywords_alone_find_it_in_the_other_language(client: Client, question: str, found: str) -> None:
    for text in KEPT.values():
        client.remember(text)
    answer = whole(lambda: client.recall(question, disabled_routes=OTHER_ROUTES, no_cache=True, top_k=1))
    assert [hit.memory.content for hit in answer.hits] == [KEPT[found]]


def test_an_answer_is_not_given_again_once_there_is_one_in_the_other_language(client: Client) -> None:
    for text in ("会议改到了三楼。", "早饭吃了豆浆油条。", "新同事姓赵。"):
        client.remember(text)
    question = "那把雨伞是谁的？"
    whole(lambda: client.recall(question))
    assert client.recall(question).cache.hit
    client.remember(KEPT["umbrella"])
    answer = client.recall(question)
    assert not answer.cache.hit
    assert KEPT["umbrella"] in [hit.memory.content for hit in answer.hits]
