"""What an attribute is of, asides, returns and switches of a sort, in both languages."""

from pathlib import Path

import pytest

from rearview.domain.fact import ANY_OF, EarlierTurn, FactCandidate, Stance
from rearview.language.facts import (
    InvalidAttributeFile,
    RuleFactExtractor,
    extract_facts,
    load_attributes,
    load_topics,
)


def read(text: str, *previous: str) -> tuple[FactCandidate, ...]:
    return extract_facts(text, "user", previous=[EarlierTurn("user", said) for said in previous])


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("My budget for the couch is 700 euros", "user/sofa", "700"),
        ("沙发的预算是700欧元", "user/sofa", "700"),
        ("My budget is 1500 dollars for a new laptop", "user/laptop", "1500"),
        ("我买笔记本电脑的预算是1500美元", "user/laptop", "1500"),
        ("Our wedding budget has been raised to 20k", "user/wedding", "20000"),
        ("婚礼预算改成两万", "user/wedding", "20000"),
        ("包包的预算是两千", "user/bag", "2000"),
        ("I can spend up to 300 euros on a used bike", "user/bike", "300"),
        ("My 手机 budget is 3000", "user/phone", "3000"),
        ("我的phone预算是3000", "user/phone", "3000"),
        ("Budget for the holiday: 2000", "user/travel", "2000"),
        ("The budget for the aquarium is 90 dollars", "user/aquarium", "90"),
        ("Our budget for the trip to Norway is 4000", "user/trip to norway", "4000"),
    ],
)
def test_an_amount_belongs_to_what_it_is_for(text: str, subject: str, value: str) -> None:
    (fact,) = read(text)
    assert (fact.subject, fact.attribute, fact.value_key) == (subject, "budget", value)


@pytest.mark.parametrize(
    "text",
    [
        "My budget for next week is 300",
        "My budget for two people is 300",
        "If my budget for the couch is 900 I can buy it",
        "要是沙发的预算有九千就好了",
        "他的沙发预算是三千",
        "What is my budget for the couch?",
    ],
)
def test_a_stretch_of_time_a_supposition_and_others_amounts_are_no_topic_of_mine(text: str) -> None:
    assert read(text) == ()


def test_a_topic_is_corrected_changed_and_taken_back() -> None:
    (corrected,) = read("Sorry, make it 650", "My budget for the bed is 600")
    (changed,) = read("Raise my budget for the bed to 800")
    (taken_back,) = read("忘掉床的预算")
    assert [(fact.subject, fact.value_key, fact.stance) for fact in (corrected, changed, taken_back)] == [
        ("user/bed", "650", Stance.CORRECTION),
        ("user/bed", "800", Stance.CHANGE),
        ("user/bed", "", Stance.RETRACTION),
    ]


def test_a_users_file_adds_topics_and_names_of_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("topics:\n  - [camper van, 房车]\n  - [settee, sofa, 长沙发]\n", encoding="utf-8")
    own = RuleFactExtractor(load_attributes(path), load_topics(path))
    subjects = [
        own.extract_facts(text, "user")[0].subject
        for text in ("房车预算是9000", "My camper van budget is 9000", "长沙发预算是900", "My settee budget is 900")
    ]
    assert subjects == ["user/camper van"] * 2 + ["user/sofa"] * 2


@pytest.mark.parametrize("text", ["topics: sofa", "topics: [sofa]", "topics: [[]]", "topics: [[{a: b}]]"])
def test_mistakes_in_topics_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidAttributeFile) as raised:
        load_topics(path)
    assert "topics" in raised.value.violations[0].field


@pytest.mark.parametrize(
    ("text", "attribute", "key", "span"),
    [
        ("I'm allergic to shellfish, as I've mentioned before.", "allergy", "shellfish", "I'm allergic to shellfish"),
        ("Like I said, I'm allergic to shellfish", "allergy", "shellfish", "I'm allergic to shellfish"),
        ("I already told you that I live in Oslo", "residence", "oslo", "I live in Oslo"),
        ("我对海鲜过敏，之前跟你说过的", "allergy", "seafood", "我对海鲜过敏"),
        ("我告诉过你我住在北京", "residence", "beijing", "我住在北京"),
        ("再说一遍，我对海鲜过敏", "allergy", "seafood", "我对海鲜过敏"),
        ("我对shrimp过敏, as I said", "allergy", "shrimp", "我对shrimp过敏"),
        ("我喜欢喝绿茶（我说过的）", "likes", "green tea", "我喜欢喝绿茶"),
    ],
)
def test_words_about_the_telling_are_no_part_of_what_is_told(text: str, attribute: str, key: str, span: str) -> None:
    (fact,) = read(text)
    assert (fact.attribute, fact.value_key, text[fact.start : fact.end]) == (attribute, key, span)


@pytest.mark.parametrize(
    "text",
    [
        "我说过我喜欢红茶，但现在不喜欢了",
        "I said I like tea, but not anymore",
        "我没说过我喜欢红茶",
        "他跟我说过他喜欢红茶",
    ],
)
def test_what_was_said_and_holds_no_more_or_was_said_by_others_is_not_read(text: str) -> None:
    assert [fact for fact in read(text) if fact.about_user and fact.polarity == "affirmed"] == []


@pytest.mark.parametrize(
    ("text", "attribute", "key"),
    [
        ("我们上个月从上海搬回杭州了", "residence", "hangzhou"),
        ("我又住回北京了", "residence", "beijing"),
        ("我搬回Berlin了", "residence", "berlin"),
        ("We've moved back to Berlin", "residence", "berlin"),
        ("I'm living back in Paris", "residence", "paris"),
        ("我又回到腾讯上班了", "employer", "tencent"),
        ("I've rejoined Google", "employer", "google"),
    ],
)
def test_a_return_is_a_change(text: str, attribute: str, key: str) -> None:
    (fact,) = read(text)
    assert (fact.attribute, fact.value_key, fact.stance) == (attribute, key, Stance.CHANGE)


@pytest.mark.parametrize("text", ["我想搬回杭州", "我搬回家住了", "他又搬回杭州了", "I might move back to Berlin"])
def test_a_wish_to_return_a_home_without_a_place_and_others_returns_are_not_mine(text: str) -> None:
    assert [fact for fact in read(text) if fact.attribute == "residence"] == []


@pytest.mark.parametrize(
    ("text", "value", "replaced", "kept"),
    [
        ("从现在起我的茶都换成红茶", "black tea", "green tea", "americano"),
        ("From now on switch my coffee to espresso", "espresso", "latte", "green tea"),
        ("以后我喝的coffee都换成美式", "americano", "latte", "milk"),
        ("I've changed my daily coffee to green tea", "green tea", "coffee", "black tea"),
    ],
)
def test_a_switch_of_a_sort_replaces_all_of_it_and_nothing_else(
    text: str, value: str, replaced: str, kept: str
) -> None:
    (fact,) = read(text)
    assert (fact.attribute, fact.value_key, fact.stance) == ("likes", value, Stance.CHANGE)
    others = (fact.replaces or "").split(ANY_OF)
    assert replaced in others
    assert kept not in others
    assert value not in others


@pytest.mark.parametrize(
    "text", ["帮我把我的咖啡换成红茶", "以后会议室的咖啡都换成红茶", "Swap my coffee for a tea please"]
)
def test_an_order_and_what_others_drink_are_no_change_of_taste(text: str) -> None:
    assert [fact for fact in read(text) if fact.may_supersede] == []
