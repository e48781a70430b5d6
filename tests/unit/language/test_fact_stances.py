"""Once, from now on, no more: how a statement relates to what was said before."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from rearview.domain.fact import EarlierTurn, FactCandidate, FactKind, Polarity, Stance, Strength
from rearview.language.facts import extract_facts

REFERENCE = datetime(2024, 5, 15, 10, tzinfo=ZoneInfo("Asia/Shanghai"))


def read(text: str, *previous: tuple[str, str]) -> tuple[FactCandidate, ...]:
    turns = [EarlierTurn(role, said) for role, said in previous]
    return extract_facts(text, "user", reference=REFERENCE, previous=turns)


@pytest.mark.parametrize(
    ("text", "attribute", "key", "stance"),
    [
        ("我喜欢喝美式", "likes", "americano", Stance.STANDING),
        ("今天想喝拿铁", "likes", "latte", Stance.ONE_OFF),
        ("Today I'll have a latte", "likes", "latte", Stance.ONE_OFF),
        ("Just this once, I'll take the aisle seat", "likes", "aisle seat", Stance.ONE_OFF),
        ("换成拿铁", "likes", "latte", Stance.CHANGE),
        ("以后都喝豆浆", "likes", "soy milk", Stance.CHANGE),
        ("From now on I'll have green tea", "likes", "green tea", Stance.CHANGE),
        ("I don't like beer anymore", "likes", "beer", Stance.CHANGE),
        ("I used to like coffee but now I prefer tea", "likes", "tea", Stance.CHANGE),
        ("预算改到9000吧", "budget", "9000", Stance.CHANGE),
        ("I've just switched to T-Mobile", "carrier", "t-mobile", Stance.CHANGE),
        ("说错了，预算是一万", "budget", "10000", Stance.CORRECTION),
        ("预算不算数了", "budget", "", Stance.RETRACTION),
        ("Forget the budget", "budget", "", Stance.RETRACTION),
        ("forget 我的预算", "budget", "", Stance.RETRACTION),
        ("我的预算不是8000", "budget", "8000", Stance.NEGATION),
        ("I no longer live in Chicago", "residence", "chicago", Stance.NEGATION),
    ],
)
def test_stances(text: str, attribute: str, key: str, stance: Stance) -> None:
    (fact,) = read(text)
    assert (fact.attribute, fact.value_key, fact.stance) == (attribute, key, stance)


def test_only_what_lasts_and_is_trusted_may_supersede() -> None:
    (once,), (changed,), (was,) = (
        read("今天想喝拿铁"),
        read("换成拿铁"),
        read("I lived in Berlin from 2010 to 2014"),
    )
    assert not once.may_supersede
    assert changed.may_supersede
    assert not was.may_supersede
    assert (was.valid_from, was.valid_to) == (
        datetime(2009, 12, 31, 16, tzinfo=UTC),
        datetime(2014, 12, 31, 16, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("text", "said", "attribute", "key", "replaces"),
    [
        ("不对，是8000", "我的预算是6000", "budget", "8000", "6000"),
        ("No, 9000", "My budget is 7000", "budget", "9000", "7000"),
        ("Actually, make it Tuesday", "The deadline is next Monday", "deadline", "2024-05-21", "2024-05-20"),
        ("不，是下周二", "截止日期是下周一", "deadline", "2024-05-21", "2024-05-20"),
        ("不是8000，是6000", "预算8000元", "budget", "6000", "8000"),
        ("哦不对，是花粉", "我对花生过敏", "allergy", "pollen", "peanut"),
        ("不对，应该是上海", "我住在北京", "residence", "shanghai", "beijing"),
    ],
)
def test_corrections_replace_the_statement_they_fit(
    text: str, said: str, attribute: str, key: str, replaces: str
) -> None:
    (fact,) = read(text, ("user", said), ("assistant", "好的。"))
    assert (fact.attribute, fact.value_key, fact.replaces) == (attribute, key, replaces)
    assert fact.stance is Stance.CORRECTION


def test_a_number_corrects_no_address_and_nothing_without_an_earlier_statement() -> None:
    assert read("不对，是8000", ("user", "我住在北京")) == ()
    assert read("不对，是8000") == ()


def test_a_correction_of_a_plan_moves_its_day() -> None:
    (fact,) = read("Actually, make it Friday", ("user", "I'm flying to Tokyo tomorrow"))
    assert (fact.attribute, fact.value_key, fact.stance) == ("plan", "fly to tokyo", Stance.CORRECTION)
    assert fact.valid_from == datetime(2024, 5, 16, 16, tzinfo=UTC)


def test_a_mere_no_corrects_only_what_it_contradicts() -> None:
    (same,) = read("No, I live in Boston", ("user", "My budget is 500"))
    (other,) = read("No, I live in Boston", ("user", "I live in Austin"))
    assert same.stance is Stance.STANDING
    assert (other.stance, other.replaces) == (Stance.CORRECTION, "austin")


def test_a_switch_replaces_the_last_preference_of_its_category() -> None:
    (fact,) = read("换成拿铁", ("user", "我喜欢喝美式"), ("user", "我喜欢靠窗的座位"))
    assert (fact.category, fact.replaces) == ("drink", "americano")


@pytest.mark.parametrize(
    ("proposal", "answer", "attribute", "key"),
    [
        ("预算就定8000元，可以吗？", "好的就这么定", "budget", "8000"),
        ("Shall we set your budget to $5,000?", "Yes, let's do that", "budget", "5000"),
        ("那我们选方案B怎么样？", "可以，就这样", "decision", "方案b"),
        ("您的预算是多少？", "8000", "budget", "8000"),
        ("Where do you live?", "Portland", "residence", "portland"),
    ],
)
def test_what_the_user_confirms_or_answers_is_the_users(proposal: str, answer: str, attribute: str, key: str) -> None:
    (fact,) = read(answer, ("assistant", proposal))
    assert (fact.attribute, fact.value_key, fact.subject) == (attribute, key, "user")
    assert (fact.start, fact.end) == (0, len(answer))


@pytest.mark.parametrize("answer", ["不行，太贵了", "No thanks", "谢谢", "Why?", "随便"])
def test_what_the_user_does_not_confirm_is_nobodys(answer: str) -> None:
    assert read(answer, ("assistant", "预算就定8000元，可以吗？")) == ()


def test_plans_have_their_days_in_the_speakers_zone() -> None:
    (fact,) = read("我下周五要去东京出差")
    assert (fact.kind, fact.value) == (FactKind.PLAN, "去东京出差")
    assert (fact.valid_from, fact.valid_to) == (
        datetime(2024, 5, 23, 16, tzinfo=UTC),
        datetime(2024, 5, 24, 16, tzinfo=UTC),
    )
    (undated,) = extract_facts("I'm planning to learn the violin", "user")
    assert (undated.value, undated.valid_from) == ("learn the violin", None)


@pytest.mark.parametrize(
    ("text", "key", "polarity"),
    [
        ("不要在晚上九点以后给我打电话", "在晚上九点以后给我打电话", Polarity.DENIED),
        ("Never share my phone number with anyone", "share my phone number with anyone", Polarity.DENIED),
        ("报告必须用PDF格式", "用pdf格式", Polarity.AFFIRMED),
        ("Answer in Chinese from now on", "answer in chinese", Polarity.AFFIRMED),
    ],
)
def test_rules_laid_down(text: str, key: str, polarity: Polarity) -> None:
    (fact,) = read(text)
    assert (fact.kind, fact.value_key, fact.polarity) == (FactKind.CONSTRAINT, key, polarity)


def test_strength() -> None:
    strengths = {
        text: read(text)[0].strength for text in ("我不太喜欢下雨天", "我喜欢猫", "我更喜欢茶", "I hate durian")
    }
    assert list(strengths.values()) == [Strength.WEAK, Strength.NORMAL, Strength.PREFERRED, Strength.STRONG]
