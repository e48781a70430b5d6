"""What is asked, supposed, reported or meant for once states nothing; what stands before it does."""

import pytest

from rearview.domain.fact import Stance
from rearview.language.facts import extract_facts


def keys(text: str) -> list[tuple[str, str]]:
    return [(fact.attribute, fact.value_key) for fact in extract_facts(text, "user")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm allergic to sesame so let me know if any of these have tahini", [("allergy", "sesame")]),
        ("not sure if it matters but i'm lactose intolerant", [("condition", "lactose intolerance")]),
        ("没记错的话我的血型是B型", [("blood_type", "b")]),
        ("预算八千，希望续航好一点", [("budget", "8000")]),
        ("I live in Oslo, hoping to find a gym nearby", [("residence", "oslo")]),
        ("I'm vegetarian could you recommend a place near me", [("diet", "vegetarian")]),
        ("我对花生过敏 推荐点零食", [("allergy", "peanut")]),
        ("I take metformin, is grapefruit ok?", [("medication", "metformin")]),
        ("我有高血压，能吃柚子吗", [("condition", "hypertension")]),
        ("I have gout what should i avoid", [("condition", "gout")]),
        ("I moved to Austin in May, my mom says it's too hot", [("residence", "austin")]),
        ('I moved to Lyon last year. How do you say "rent" in French?', [("residence", "lyon")]),
        ("我吃素嘛，火锅就清汤吧", [("diet", "vegetarian")]),
    ],
)
def test_what_stands_before_is_stated(text: str, expected: list[tuple[str, str]]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        # Questions, and tags that ask for what was just said.
        "I live in Rome, right?",
        "I told you I'm vegan, didn't I?",
        "I'm vegan or vegetarian, which did I say?",
        "Is my budget 8000, or 9000?",
        "Did I mention I have two kids?",
        "my shoe size is 42 or 43?",
        "我住在杭州，对吧？",
        "预算就定8000，可以吗？",
        "我的预算是5000还是6000，你记得吗",
        "住在杭州好还是住在苏州好",
        # Suppositions and wishes.
        "I'll move to Berlin, if I get the job",
        "If I were a doctor, I'd live in Oslo and drive a Tesla",
        "Suppose I'm a vegan, I live in Rome and I hate tofu",
        "如果我住在海边，我就养一只狗",
        "我会搬去上海，如果拿到offer",
        "要是我有钱，我就买特斯拉",
        "希望我能有个大房子，养两只狗",
        "I wish I lived in Paris, I love croissants",
        # Others' words.
        "I'm moving to Spain, she told me yesterday",
        "我要搬去西班牙，她说",
        "She says I'm lazy, I work from home too much",
        "客户说预算改成8万了",
        "Write me a story. I'm a pirate, I live on a ship.",
        "我喜欢跑步，翻译成英文",
        # What was.
        "以前我住上海，养了一只猫",
        "When I was a kid I hated broccoli, loved candy",
        "我做过两年销售",
        # Whom or what it is about.
        "送女生的礼物，喜欢可爱风的",
        "四月去京都，住在岚山。",
        "我现在在成都出差",
        "dentist is rescheduled, moved to Thursday",
        "My boss is out, works from home",
        # One task, one thing, no rule and no taste.
        "Make sure you send the invoice to Bob",
        "My car needs to be fixed",
        "pick a name for my startup",
        "帮我点一杯不要糖的奶茶",
        "每次下雨都要堵车",
        "礼物我很喜欢",
        "我只穿M码",
        "我现在用微信",
        "I have a question about my phone",
        "I'm a first-time home buyer",
        "I'm a 10",
        "I'm on 3 medications",
        "My usual size is medium",
        "大家都叫我学霸",
        "我老家拆迁了",
        "我是想问客服",
    ],
)
def test_nothing_is_stated(text: str) -> None:
    assert keys(text) == []


def test_a_comparison_is_no_taste() -> None:
    assert keys("I'm vegan, like most of my friends") == [("diet", "vegan")]


@pytest.mark.parametrize(
    "text", ["Just a black coffee for me today", "今天不想喝咖啡，来杯热水吧", "I feel like having ramen tonight"]
)
def test_what_is_had_for_once_changes_nothing(text: str) -> None:
    assert {fact.stance for fact in extract_facts(text, "user")} == {Stance.ONE_OFF}


def test_of_what_is_taken_back_the_last_is_meant() -> None:
    assert keys("I love sushi. Wait no, I love ramen") == [("likes", "ramen")]


def test_a_name_after_a_place_is_the_places() -> None:
    assert all(attribute != "name" for attribute, _ in keys("我住一个老小区，叫阳光花园"))
