"""Entities in both languages, and canonical forms."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.text import EntityType
from rearview.language.aliases import canonical
from rearview.language.entities import entities, entities_batch, identifiers, query_entities

PERSON, PLACE, ORGANISATION = EntityType.PERSON, EntityType.PLACE, EntityType.ORGANISATION
PRODUCT, IDENTIFIER, QUANTITY = EntityType.PRODUCT, EntityType.IDENTIFIER, EntityType.QUANTITY

HAS = [
    ("我叫李雷", "李雷", PERSON),
    ("我住在北京市朝阳区望京", "北京市朝阳区望京", PLACE),
    ("我在腾讯工作", "腾讯", ORGANISATION),
    ("在看《三体》", "三体", PRODUCT),
    ("订单A2024-0815什么时候到", "A2024-0815", IDENTIFIER),
    ("订单号是88213991", "88213991", IDENTIFIER),
    ("预算8000元", "8000元", QUANTITY),
    ("跑了5 km", "5 km", QUANTITY),
    ("My friend Alice Smith lives in Paris", "Alice Smith", PERSON),
    ("My friend Alice Smith lives in Paris", "Paris", PLACE),
    ("It cost $20", "$20", QUANTITY),
    ("PROJ-123 broke", "PROJ-123", IDENTIFIER),
    ("fixed in 9f8e7d6", "9f8e7d6", IDENTIFIER),
    ("用的是MacBook", "MacBook", PRODUCT),
    ("我在Starbucks喝咖啡", "Starbucks", ORGANISATION),
]


@pytest.mark.parametrize(("text", "mention", "kind"), HAS)
def test_finds(text: str, mention: str, kind: EntityType) -> None:
    assert (mention, kind) in [(entity.text, entity.type) for entity in entities(text)]


@pytest.mark.parametrize("text", ["2024-01-15", "state-of-the-art", "什么时候", "3-year plan"])
def test_dates_and_words_are_no_codes(text: str) -> None:
    assert identifiers(text) == ()
    assert all(entity.type is not IDENTIFIER for entity in entities(text))


def test_mixed_text_gets_both_models() -> None:
    found = {entity.text: entity.type for entity in entities("昨天王芳 and John Miller met in London, 在北京")}
    assert found["王芳"] is PERSON
    assert found["John Miller"] is PERSON
    assert found["London"] is PLACE
    assert found["北京"] is PLACE


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("预算", "Budget"),
        ("北京市", "Beijing"),
        ("ｉＰｈｏｎｅ", "iphone"),
        ("《三体》", "三体"),
        ("拿铁", "Latte"),
        ("New  York", "纽约"),
    ],
)
def test_canonical_forms_meet(first: str, second: str) -> None:
    assert canonical(first) == canonical(second)


@pytest.mark.parametrize("name", ["预算", "Beijing", "李雷", "A2024-0815", "", "《 x 》"])
def test_canonical_is_stable(name: str) -> None:
    assert canonical(canonical(name)) == canonical(name)


def test_queries_find_names_without_models() -> None:
    found = [entity.text for entity in query_entities("When did Caroline go to 北京 with order A2024-0815?")]
    assert found == ["Caroline", "北京", "order", "A2024-0815"]


def test_a_batch_gives_what_single_texts_give() -> None:
    texts = ["我叫李雷", "Alice lives in Paris", "", "王芳 met Bob in London"]
    assert entities_batch(texts) == [entities(text) for text in texts]


def test_models_serve_threads() -> None:
    texts = ["Alice Smith lives in Paris", "我叫李雷，住在上海"] * 8
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(entities, texts)) == [entities(text) for text in texts]


@given(st.text(max_size=60) | st.text(alphabet=st.sampled_from("李雷AbZ09-_《》\"“”'$元 ."), max_size=60))
def test_never_raises_and_offsets_hold(text: str) -> None:
    for find in (entities, query_entities):
        done = 0
        for entity in find(text):
            assert text[entity.start : entity.end] == entity.text
            assert done <= entity.start < entity.end
            done = entity.end


@pytest.mark.parametrize("unit", ["1", "a1-", "A ", "“", "《", "1,", "$1"])
@pytest.mark.timeout(20)
def test_long_texts_are_read_up_to_a_limit(unit: str) -> None:
    query_entities(unit * 50_000)
