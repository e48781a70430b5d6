"""Facts a speaker states; and everything that must not be taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.fact import Polarity
from rearview.language.facts import attributes, extract_facts

STATED = [
    ("我叫李雷", "name", "李雷"),
    ("你好，我叫韩梅梅。", "name", "韩梅梅"),
    ("叫我小王就行", "name", "小王"),
    ("My name is Li Lei", "name", "Li Lei"),
    ("Hi, please call me Max!", "name", "Max"),
    ("我的预算是8000元", "budget", "8000"),
    ("预算改成1.2万了", "budget", "12000"),
    ("预算现在是１２０００元", "budget", "12000"),
    ("My budget is $8,000.", "budget", "8000"),
    ("The budget is now 12k", "budget", "12000"),
    ("We have a budget of 500 euros", "budget", "500"),
    ("我手机用的是移动", "carrier", "移动"),
    ("我换成联通了", "carrier", "联通"),
    ("I switched to Verizon", "carrier", "Verizon"),
    ("my phone carrier is China Unicom", "carrier", "China Unicom"),
    ("我住在北京市朝阳区", "residence", "北京市朝阳区"),
    ("我搬到上海了", "residence", "上海"),
    ("I live in San Francisco with my wife", "residence", "San Francisco"),
    ("I just moved to Berlin", "residence", "Berlin"),
    ("我是一名软件工程师", "job", "软件工程师"),
    ("I'm a software engineer at a bank", "job", "software engineer"),
    ("I work as a nurse.", "job", "nurse"),
    ("我在腾讯工作", "employer", "腾讯"),
    ("I work at Google", "employer", "Google"),
    ("我的生日是5月7日", "birthday", "--05-07"),
    ("我的生日是1990-05-07", "birthday", "1990-05-07"),
    ("my birthday is May 7th", "birthday", "--05-07"),
    ("I was born on 7 May 1990", "birthday", "1990-05-07"),
    ("我喜欢喝美式", "likes", "美式"),
    ("I really love hiking", "likes", "hiking"),
    ("I'm a big fan of pottery", "likes", "pottery"),
    ("I prefer tea over coffee", "likes", "tea"),
    ("我对花生过敏", "allergy", "花生"),
    ("记住：我对青霉素过敏", "allergy", "青霉素"),
    ("I'm allergic to peanuts", "allergy", "peanuts"),
    ("I have a severe shellfish allergy", "allergy", "shellfish"),
    ("我养了一只橘猫叫咪咪", "pet", "橘猫 (咪咪)"),
    ("My dog's name is Max", "pet", "dog (Max)"),
    ("I have two dogs named Max and Rex", "pet", "dogs (Max and Rex)"),
    ("我会说法语", "speaks", "法语"),
]


@pytest.mark.parametrize(("text", "attribute", "value"), STATED)
def test_stated_facts(text: str, attribute: str, value: str) -> None:
    assert [(fact.attribute, fact.value, fact.polarity) for fact in extract_facts(text, "user")] == [
        (attribute, value, Polarity.AFFIRMED)
    ]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("我不喜欢香菜", "likes", "香菜"),
        ("我不吃辣", "likes", "辣"),
        ("I don't like cilantro", "likes", "cilantro"),
        ("I can't stand loud music", "likes", "loud music"),
        ("我对海鲜不过敏", "allergy", "海鲜"),
        ("I'm not allergic to nuts", "allergy", "nuts"),
    ],
)
def test_denied_facts(text: str, attribute: str, value: str) -> None:
    assert [(fact.attribute, fact.value, fact.polarity) for fact in extract_facts(text, "user")] == [
        (attribute, value, Polarity.DENIED)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "我叫什么",
        "你叫什么名字？",
        "我的预算是多少？",
        "What is my budget?",
        "Do I live in Paris?",
        "如果我的预算是8000元",
        "要是我住在上海就好了",
        "If my budget is 8000, what can I buy",
        "If I had 8000",
        "I would like a coffee",
        "I might move to Berlin",
        "I used to live in Paris",
        "我以前住在上海",
        "他的预算是8000元",
        "他说我喜欢香菜",
        "他说，我喜欢香菜",
        "She said, I love hiking",
        "我住在上海吗？",
        "我的预算是8000元？",
        "my name is Max?",
        "She said I love hiking",
        "“我叫李雷”是课本里的句子",
        'He wrote "my name is Bob" on it',
        "我爱你",
        "I like your idea",
        "I love it",
        "I love the energy",
        "I love to",
        "I live in fear",
        "我住院了",
        "我住在哪里",
        "我叫他来",
        "call me later",
        "我们公司的预算是8000元",
        "我的生日是13月40日",
        "今天天气不错",
        "My email is broken",
        "I'm 5 minutes away",
        "我是你的老师",
        "我女朋友",
        "Don't let it get you down",
        "Always good to hear",
        "Sounds like a plan",
        "你好，我的手机号是[PHONE]",
        "My budget is between 500 and 1000 dollars",
        "我好喜欢加班哦，才怪",
        "Yeah right, I love paying taxes",
        "比如预算8000元",
        "For example, my budget is 8000",
        "翻译一下：我叫李明",
        "",
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    assert extract_facts(text, "user") == ()


@pytest.mark.parametrize("role", ["assistant", "tool", "document", "system", ""])
def test_only_people_state_facts(role: str) -> None:
    assert extract_facts("我叫李雷", role) == ()


def test_money_has_its_currency_and_topics_their_own_subject() -> None:
    (plain,) = extract_facts("我的预算是8000元", "user")
    (travel,) = extract_facts("旅行预算大概8000美元", "user")
    (trip,) = extract_facts("My travel budget is $9000", "user")
    assert (plain.subject, plain.unit) == ("user", "CNY")
    assert (travel.subject, travel.unit) == ("user/travel", "USD")
    assert trip.subject == travel.subject


def test_lists_give_one_fact_each() -> None:
    assert [fact.value for fact in extract_facts("我喜欢游泳和跑步", "user")] == ["游泳", "跑步"]
    assert [fact.value for fact in extract_facts("I'm allergic to peanuts, shrimp and milk", "user")] == [
        "peanuts",
        "shrimp",
        "milk",
    ]
    assert [fact.value for fact in extract_facts("I love helping people and making new friends", "user")] == [
        "helping people and making new friends"
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I'm allergic to shellfish, my throat swells up", ["shellfish"]),
        ("I'm allergic to shellfish and my throat swells up", ["shellfish"]),
        ("I am allergic to latex, so no gloves", ["latex"]),
        ("I'm allergic to peanuts, milk, and my throat swells up", ["peanuts", "milk"]),
        ("I'm allergic to peanuts, shellfish and milk", ["peanuts", "shellfish", "milk"]),
        ("I'm allergic to cats, dogs", ["cats", "dogs"]),
        ("我对海鲜过敏，喉咙会肿", ["海鲜"]),
        ("我对海鲜过敏 喉咙会肿", ["海鲜"]),
        ("我对花生过敏而且很严重", ["花生"]),
        ("我对海鲜、花生和牛奶过敏，一吃就肿", ["海鲜", "花生", "牛奶"]),
        ("I'm allergic to 海鲜, my throat swells up", ["海鲜"]),
    ],
)
def test_a_clause_of_its_own_is_nothing_of_a_list(text: str, values: list[str]) -> None:
    assert [fact.value for fact in extract_facts(text, "user")] == values


def test_one_turn_may_state_several_facts_and_share_a_subject() -> None:
    facts = extract_facts("你好，我叫李雷，住在北京市朝阳区，是一名程序员。My budget is 8000 yuan!", "user")
    assert [(fact.attribute, fact.value) for fact in facts] == [
        ("name", "李雷"),
        ("residence", "北京市朝阳区"),
        ("job", "程序员"),
        ("budget", "8000"),
    ]


def test_spans_hold_the_statement() -> None:
    text = "对了，我的预算是8000元，别忘了"
    (fact,) = extract_facts(text, "user")
    assert text[fact.start : fact.end] == "我的预算是8000元"


def test_attributes_say_whether_they_hold_one_value() -> None:
    assert attributes()["budget"].single_valued
    assert "预算" in attributes()["budget"].aliases
    assert not attributes()["likes"].single_valued
    (budget,), (likes,) = extract_facts("预算8000元", "user"), extract_facts("我喜欢猫", "user")
    assert budget.single_valued
    assert not likes.single_valued


@pytest.mark.parametrize(
    ("text", "subject", "attribute", "key"),
    [
        ("我妈妈住在上海", "person/mother", "residence", "shanghai"),
        ("My sister lives in Paris", "person/sister", "residence", "paris"),
        ("My friend's birthday is May 7th", "person/friend", "birthday", "--05-07"),
        ("周敏对芒果过敏", "person/周敏", "allergy", "mango"),
        ("Alice said she works at Shell", "person/alice", "employer", "shell"),
        ("李娜说她喜欢爬山", "person/李娜", "likes", "hiking"),
    ],
)
def test_what_is_said_of_others_is_theirs(text: str, subject: str, attribute: str, key: str) -> None:
    (fact,) = extract_facts(text, "user")
    assert (fact.subject, fact.attribute, fact.value_key) == (subject, attribute, key)
    assert not fact.about_user


def test_a_clause_without_subject_speaks_of_the_person_named_before() -> None:
    facts = extract_facts("我妹妹叫林月，住在上海，我住在北京", "user")
    assert [(fact.subject, fact.attribute, fact.value_key) for fact in facts] == [
        ("user/sister", "relation", "林月"),
        ("person/林月", "residence", "shanghai"),
        ("user", "residence", "beijing"),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("我的预算是一万二", "My budget is 12,000 yuan"),
        ("预算12000元", "预算1万2"),
        ("budget is 12k", "预算1.2万元"),
        ("我身高1.75米", "I'm 175 cm tall"),
        ("我身高一米七五", "My height is 1.75 m"),
        ("我体重130斤", "I weigh 65 kg"),
        ("我喜欢喝美式", "I love americanos"),
        ("我住在北京", "I live in Beijing"),
        ("我手机用的是联通", "My carrier is China Unicom"),
        ("我对花生过敏", "I'm allergic to peanuts"),
        ("我的生日是5月7日", "My birthday is May 7th"),
        ("我是一名护士", "I'm a nurse"),
        ("我的血型是O型", "My blood type is O"),
    ],
)
def test_equal_values_have_equal_keys(first: str, second: str) -> None:
    (one,), (other,) = extract_facts(first, "user"), extract_facts(second, "user")
    assert (one.attribute, one.value_key) == (other.attribute, other.value_key)
    assert one.same_value(other)


def test_a_sum_in_another_currency_is_another_value() -> None:
    (yuan,), (dollars,) = extract_facts("预算8000元", "user"), extract_facts("预算8000美元", "user")
    assert yuan.value_key == dollars.value_key
    assert not yuan.same_value(dollars)


PIECES = st.sampled_from([text for text, *_ in STATED] + list("，。！我是叫在 ,.:-") + ["I'm ", "my ", " and "])


@given(st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=80))
def test_never_raises_and_spans_hold(text: str) -> None:
    for fact in extract_facts(text, "user"):
        assert 0 <= fact.start < fact.end <= len(text)
        assert fact.value.strip() == fact.value != ""


@pytest.mark.parametrize("unit", ["我", "我喜欢", "I love ", "，", "a and ", '"', "。", "1", "我叫李雷，", "user "])
@pytest.mark.timeout(20)
def test_hostile_text_is_read_in_bounded_time(unit: str) -> None:
    extract_facts(unit * 20_000, "user")


@pytest.mark.parametrize(
    ("text", "place"), [("I live in New York", "New York"), ("I moved, 我住在 New Delhi", "New Delhi")]
)
def test_new_stays_where_it_belongs_to_a_name(text: str, place: str) -> None:
    assert [fact.value for fact in extract_facts(text, "user") if fact.attribute == "residence"] == [place]
