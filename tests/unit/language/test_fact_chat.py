"""How people type: informal spelling, a question after a statement, pronouns, subjects left out, slips put right."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from rearview.domain.fact import EarlierTurn, FactCandidate, Polarity, Stance
from rearview.language.facts import extract_facts

REFERENCE = datetime(2024, 5, 15, 10, tzinfo=ZoneInfo("Asia/Shanghai"))


def read(text: str, *previous: str) -> tuple[FactCandidate, ...]:
    return extract_facts(text, "user", reference=REFERENCE, previous=[EarlierTurn("user", said) for said in previous])


@pytest.mark.parametrize(
    ("text", "subject", "attribute", "key"),
    [
        ("im vegan btw", "user", "diet", "vegan"),
        ("my gf is vegetarian", "person/girlfriend", "diet", "vegetarian"),
        ("I'm vegetarian, could you recommend a place?", "user", "diet", "vegetarian"),
        ("我对花生过敏，能推荐点零食吗？", "user", "allergy", "peanut"),
        ("My 预算 is 8000，买什么手机好？", "user", "budget", "8000"),
        ("I might move next year, my salary is 9000", "user", "salary", "9000"),
        ("Anna says she's a lawyer", "person/anna", "job", "lawyer"),
        ("Kevin 喜欢 jazz", "person/kevin", "likes", "jazz"),
        ("我在上海当老师", "user", "job", "teacher"),
        ("I take 50 mg of losartan every day", "user", "medication", "losartan"),
        ("我是88年3月5号的生日", "user", "birthday", "1988-03-05"),
    ],
)
def test_a_statement_is_read_as_it_is_typed(text: str, subject: str, attribute: str, key: str) -> None:
    (fact,) = read(text)
    assert (fact.subject, fact.attribute, fact.value_key) == (subject, attribute, key)


@pytest.mark.parametrize(
    "text",
    [
        "I live in Paris, don't I?",
        "我住在北京，对吗？",
        "我喜欢喝茶，你还记得吗？",
        "Maybe I live in Paris",
        "我可能住在北京",
        "If my budget were 900, what could I buy?",
        "so dont use it",
        "毕业以后喝什么？",
    ],
)
def test_what_is_asked_for_doubted_or_supposed_is_no_statement(text: str) -> None:
    assert read(text) == ()


def test_a_pronoun_goes_on_about_the_one_named() -> None:
    found = [(fact.subject, fact.attribute) for fact in read("My boss is Ann, she lives in Boston and she's a lawyer")]
    assert ("person/ann", "residence") in found
    assert not any(subject == "user" for subject, _ in found)


def test_who_is_meant_lasts_through_a_clause_that_names_nobody() -> None:
    assert [(fact.subject, fact.attribute) for fact in read("我女儿今年上二年级，七岁半，对鸡蛋过敏")] == [
        ("person/daughter", "allergy")
    ]


@pytest.mark.parametrize("text", ["我预算五千，啊不对，六千", "My budget is 5000, no wait, my budget is 6000"])
def test_a_slip_put_right_in_the_same_turn_leaves_one_standing_value(text: str) -> None:
    (fact,) = read(text)
    assert (fact.attribute, fact.value_key, fact.stance, fact.replaces) == ("budget", "6000", Stance.STANDING, None)


def test_a_liking_taken_back_in_the_same_turn_is_none() -> None:
    (fact,) = read("I love golf. No wait, I hate golf")
    assert (fact.value_key, fact.polarity) == ("golf", Polarity.DENIED)


def test_a_contrast_that_names_the_attribute_corrects_it() -> None:
    (fact,) = read("Sorry, the deadline isn't Friday, it's next Tuesday", "My deadline is this Friday")
    assert (fact.attribute, fact.value_key, fact.stance, fact.replaces) == (
        "deadline",
        "2024-05-21",
        Stance.CORRECTION,
        "2024-05-17",
    )


def test_a_way_to_pay_from_now_on_is_the_payment_method() -> None:
    (fact,) = read("以后都用支付宝")
    assert (fact.attribute, fact.stance) == ("payment_method", Stance.CHANGE)
