import pytest

from rearview.adapters.models.calibration_sample import LANGUAGES, load_sample
from rearview.language.near_duplicate import bands
from rearview.language.statement_difference import difference, numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8,000", {"8000"}),
        ("我的预算是八千元", {"8000"}),
        ("预算1.2万", {"12000"}),
        ("eight thousand and twenty-five", {"8025"}),
        ("the 3rd of May", {"3", "month 5"}),
        ("5月3日星期五", {"month 5", "3", "weekday 5"}),
        ("Friday at 12:30", {"weekday 5", "12:30"}),
        ("我们一起去，一直走", set()),
        ("one of them may march on", set()),
        ("订单 88213 and order A2024-0815", {"88213", "2024-0815"}),
    ],
)
def test_numbers_in_plain_form(text: str, expected: set[str]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("My budget is 8000 yuan", "My budget is 9000 yuan", "numbers"),
        ("我的预算是8000元", "My budget is 9000 yuan", "numbers"),
        ("订单 88213 已发货", "订单 88214 已发货", "numbers"),
        ("The meeting is on Monday", "The meeting is on Tuesday", "numbers"),
        ("会议在周一", "The meeting is on Tuesday", "numbers"),
        ("我吃花生", "我不吃花生", "negation"),
        ("I eat peanuts", "我不吃花生", "negation"),
        ("I love this city", "I hate this city", "negation"),
        ("You like tea", "Do you like tea?", "question"),
        ("你喜欢喝茶", "你喜欢喝茶吗", "question"),
        ("I like tea", "I like coffee", "words"),
        ("我喜欢喝红茶", "我喜欢喝绿茶", "words"),
        ("我在用 Redis 做缓存", "我在用 Memcached 做缓存", "words"),
        ("My cat is called Dumpling", "My cat is called Noodle", "words"),
        ("I like tea", "I like tea with milk from the farm", "words"),
        ("I am vegan", "I am vegetarian", "words"),
        ("I would rather have a call than a long letter", "I would rather have a long letter than a call", "order"),
        ("The dog bit the man in the park", "The man bit the dog in the park", "order"),
        ("比起长邮件，我更愿意接电话。", "比起接电话，我更愿意收长邮件。", "order"),
    ],
)
def test_what_keeps_two_statements_apart(first: str, second: str, why: str) -> None:
    assert difference(first, second) == why


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My budget is 8000 yuan.", "By the way, my budget is 8,000 yuan"),
        ("我的预算是8000元。", "对了，我的预算是八千元"),
        ("我的预算是8000元。", "My budget is eight thousand yuan"),
        ("My knee hurts after running downhill", "After running downhill my knee hurts"),
        ("我女儿今年六岁，九月份上小学。", "九月份上小学，我女儿今年六岁。"),
        ("The cat food is running out, get the grain-free kind.", "cat food is running out; get the grain-free kind!"),
    ],
)
def test_what_may_be_one_statement(first: str, second: str) -> None:
    assert difference(first, second) is None


def test_no_passage_of_the_sample_shares_its_bands_with_one_that_says_something_else() -> None:
    sample = load_sample()
    found = [set(bands(passage.text)) for passage in sample.passages]
    for language in LANGUAGES:
        assert not any(len(found[i] & found[j]) > 9 for i, j in sample.same_topic(language))


def test_bands_of_texts_without_letters() -> None:
    assert bands("！？…") == ()
    assert all(-(2**31) <= band < 2**31 for band in bands("我对花生过敏"))
