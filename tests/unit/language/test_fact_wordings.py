"""The many ways people word one fact: subjects left out, fillers, names in the next clause, two facts in one breath."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from rearview.domain.fact import EarlierTurn, FactCandidate, Polarity, Stance
from rearview.language.facts import extract_facts

REFERENCE = datetime(2024, 5, 15, 10, tzinfo=ZoneInfo("Asia/Shanghai"))


def read(text: str, *asked: str) -> tuple[FactCandidate, ...]:
    return extract_facts(
        text, "user", reference=REFERENCE, previous=[EarlierTurn("assistant", question) for question in asked]
    )


def told(text: str) -> set[str]:
    """What a turn tells, each as `<subject> <attribute>=<key>`, with a minus where it is denied."""
    return {
        f"{'-' if fact.polarity is Polarity.DENIED else ''}{fact.subject} {fact.attribute}={fact.value_key}"
        for fact in read(text)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("想了半天，还是选蓝色的吧", {"user decision=蓝色的"}),
        ("讨论下来，大家一致决定用飞书开会", {"user decision=用飞书开会"}),
        ("我跟老婆商量好了，不买学区房了", {"-user decision=买学区房"}),
        ("After a lot of back and forth, we're going with the Toyota", {"user decision=toyota"}),
        ("I've decided against getting a dog", {"-user decision=getting a dog"}),
        ("We ended up choosing Postgres over MySQL", {"user decision=postgres"}),
        ("Final answer: the grey sofa", {"user decision=grey sofa"}),
        ("那就go with plan B吧", {"user decision=plan b"}),
    ],
)
def test_a_decision(text: str, expected: set[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("拜托你别在群里@我", {"-user constraint=在群里@我"}),
        ("周末就别给我安排会了", {"-user constraint=给我安排会"}),
        ("点外卖的时候千万别放香菜", {"-user constraint=放香菜"}),
        ("给我推荐的酒店一晚不能超过600", {"-user constraint=超过600"}),
        ("commit message 一律写英文", {"user constraint=写英文"}),
        ("我们公司禁止用个人邮箱传文件", {"-user constraint=用个人邮箱传文件"}),
        ("别跟我推荐网红店，我不排队", {"-user constraint=跟我推荐网红店"}),
        ("Keep your answers short, please", {"user constraint=keep your answers short"}),
        ("I need you to always cite your sources", {"user constraint=cite your sources"}),
        ("I'd rather you didn't use my last name", {"-user constraint=use my last name"}),
        ("Under no circumstances should you email my ex", {"-user constraint=email my ex"}),
        ("nobody pushes straight to main", {"-user constraint=push straight to main"}),
        ("All invoices should go to accounting@acme.com", {"user constraint=go to accounting@acme.com"}),
        ("no phone calls after 9pm pls", {"-user constraint=phone calls after 9pm"}),
    ],
)
def test_a_rule_that_is_laid_down(text: str, expected: set[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("刚提了辆二手的捷达", {"user owns=二手的捷达"}),
        ("我现在用的手机是小米14", {"user owns=小米14"}),
        ("我手机 Pixel 7，用 Google Fi", {"user owns=pixel 7"}),
        ("my car's a 2015 civic btw", {"user owns=2015 civic"}),
        ("I finally sold my house in Leeds", {"-user owns=house"}),
        (
            "I have a Yamaha keyboard and an acoustic guitar at home",
            {"user owns=yamaha keyboard", "user owns=acoustic guitar"},
        ),
        ("我家里有一只布偶，叫奶糖，今年三岁", {"user pet=布偶 (奶糖)"}),
        ("got a kitten yesterday, named her Mochi", {"user pet=kitten (mochi)"}),
        ("just adopted a senior beagle, her name's Olive", {"user pet=senior beagle (olive)"}),
    ],
)
def test_a_possession(text: str, expected: set[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我这人最怕吃苦瓜", {"-user likes=bitter melon"}),
        ("平时没事我就爱听周杰伦", {"user likes=周杰伦"}),
        ("跑步和羽毛球我都挺喜欢的", {"user likes=running", "user likes=badminton"}),
        ("最近迷上了手冲咖啡", {"user likes=pour-over coffee"}),
        ("坐飞机我一般都选靠过道的", {"user likes=aisle seat"}),
        ("更喜欢 iOS，不喜欢 Android", {"user likes=ios", "-user likes=android"}),
        ("I'm not really a coffee person", {"-user likes=coffee"}),
        ("I've never liked olives", {"-user likes=olives"}),
        ("Big fan of hiking here", {"user likes=hiking"}),
        ("Mushrooms make me gag", {"-user likes=mushroom"}),
        ("loud restaurants are not my thing", {"-user likes=loud restaurants"}),
        ("My go-to drink is a flat white", {"user likes=flat white"}),
        ("all-time fave movie is Spirited Away, hands down", {"user/movie favourite=spirited away"}),
        ("以后付款都走支付宝", {"user payment_method=alipay"}),
    ],
)
def test_a_taste(text: str, expected: set[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("医生说我有轻度脂肪肝", {"user condition=轻度脂肪肝"}),
        ("查出来有点贫血", {"user condition=anemia"}),
        ("我现在每天早上吃一片优甲乐", {"user medication=levothyroxine"}),
        ("我不吃肉，吃素有五六年了", {"-user likes=meat", "user diet=vegetarian"}),
        ("I've been taking sertraline for about a year", {"user medication=sertraline"}),
        ("I went gluten-free last year", {"user diet=gluten-free"}),
        ("我 celiac，所以面包什么的都不碰", {"user condition=celiac disease", "-user likes=bread"}),
        ("my wife's pescatarian but i'm not", {"person/wife diet=pescatarian", "-user diet=pescatarian"}),
        ("我妈膝盖不好，有骨质疏松，在吃钙片", {"person/mother condition=骨质疏松", "person/mother medication=钙片"}),
    ],
)
def test_health(text: str, expected: set[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My boss, Angela, prefers bullet points", {"user/boss relation=angela", "person/angela likes=bullet points"}),
        ("My therapist's name is Dr. Kim", {"user/therapist relation=dr. kim"}),
        ("I have a twin brother, Marcus", {"user/brother relation=marcus"}),
        ("My husband's a firefighter, he works weird shifts", {"person/husband job=firefighter"}),
        ("My mom's name is Ruth and she's 81", {"user/mother relation=ruth", "person/ruth age=81"}),
        ("我 manager 是 David，他喜欢早上开会", {"user/boss relation=david", "person/david likes=早上开会"}),
        ("我家娃叫 Oliver，4岁", {"user/child relation=oliver", "person/oliver age=4"}),
        ("老婆不吃辣，儿子对牛奶过敏", {"-person/wife likes=spicy food", "person/son allergy=milk"}),
    ],
)
def test_people_around(text: str, expected: set[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I just turned thirty-two", {"user age=32"}),
        ("Our budget's about twelve hundred dollars", {"user budget=1200"}),
        ("We can't spend more than $2,000 on the sofa", {"user/sofa budget=2000"}),
        ("I'm 163cm and 52kg", {"user height=163", "user weight=52"}),
        ("Hey! I'm Sofia, 29, living in Madrid", {"user name=sofia", "user age=29", "user residence=madrid"}),
        ("我们俩的旅行预算总共两万", {"user/travel budget=20000"}),
        ("我一米六八，一百二十斤", {"user height=168", "user weight=60"}),
        ("本人坐标杭州，程序员一枚", {"user residence=hangzhou", "user job=programmer"}),
        ("我老家山东的，现在做会计", {"user hometown=山东", "user job=accountant"}),
        ("I got laid off from Intel last month", {"-user employer=intel"}),
        ("I study physics at ETH", {"user major=physics", "user school=eth"}),
        ("i live in new york n work at stripe", {"user residence=new york", "user employer=stripe"}),
        ("im from guangzhou but based in toronto now", {"user hometown=guangzhou", "user residence=toronto"}),
        ("We called off the trip to Rome", {"-user plan=trip to rome"}),
    ],
)
def test_measures_and_who_one_is(text: str, expected: set[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        ("嗯，可以，就第二个吧", "坐飞机"),
        ("那就方案一", "坐高铁"),
        ("I'll take option 2", "坐飞机"),
        ("前者", "坐高铁"),
    ],
)
def test_an_option_that_is_picked_is_decided_on(answer: str, option: str) -> None:
    (fact,) = read(answer, "有两个方案：1. 坐高铁；2. 坐飞机。您选哪个？")
    assert (fact.attribute, fact.value) == ("decision", option)


@pytest.mark.parametrize(
    ("question", "answer"),
    [("请问您从事什么工作？", "我刚毕业"), ("Any allergies I should know of, do you have any?", "Nope")],
)
def test_an_answer_that_evades_tells_nothing(question: str, answer: str) -> None:
    assert read(answer, question) == ()


def test_who_decides_the_rent_may_tell_it() -> None:
    (fact,) = read("my landlord just told me the rent goes up to $2,300 starting in July")
    assert (fact.attribute, fact.value_key, fact.stance) == ("rent", "2300", Stance.CHANGE)
    assert fact.valid_from is not None
    assert fact.valid_from.astimezone(REFERENCE.tzinfo).date().isoformat() == "2024-07-01"


def test_a_value_read_without_blanks_is_kept_as_it_was_typed() -> None:
    (fact,) = read("别在 weekend 给我排 meeting")
    assert fact.value == "在 weekend 给我排 meeting"
