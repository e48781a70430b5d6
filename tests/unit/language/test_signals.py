"""What counts as small talk, and what never may."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.importance import is_droppable
from rearview.language.signals import is_question, turn_signals

ASKED_TO_REMEMBER = [
    "Please remember that the electrician only works before noon",
    "Remember my birthday",
    "Always remember to lock the balcony",
    "Don't forget the passport",
    "记住：阳台的门锁坏了",
    "请记住 my order is A2026-0815",
]
NOT_ASKED_TO_REMEMBER = [
    "I always go hiking on Sundays",
    "I remember that day well",
    "I'll always remember the sunset",
    "Do you remember my birthday?",
    "你还记得那家店吗？",
    "我 always 忘记",
]
CONSTRAINTS = [
    "You must not call after 9",
    "at most 1200 yuan a night",
    "最多1200元",
    "不得外传",
    "至少 two hours，最多两个人",
    "千万不要在周五下午发布。",
    "绝对不能用明文密码",
    "发布之前一定要先备份",
    "严禁外带",
    "Never deploy on Friday afternoons.",
    "Please don't call me before 9am",
    "deploy 的时候千万别 skip tests",
]
NO_CONSTRAINTS = [
    "You must have been tired",
    "I must be dreaming",
    "We at least had fun",
    "至少还有你",
    "这不得不说",
    "他赚了一千万不止",
    "我一定要去看看海",
    "绝不好笑",
    "Never mind!",
    "Never been there, honestly",
    "Please don't worry about me",
]

DROPPED = [
    "ok",
    "OK!",
    "好的",
    "好的好的",
    "哈哈",
    "哈哈哈哈哈哈",
    "嗯嗯",
    "收到，谢谢！",
    "thanks!",
    "Thanks so much!",
    "在吗",
    "在吗？",
    "How are you?",
    "Wow, that's great!",
    "Hi there! How are you doing today?",
    "Thanks, Caroline!",
    "Hey Mel! Good to see you! How have you been?",
    "真是太棒了！",
    "好久不见，最近怎么样？",
    "明白了",
    "Got it, thanks.",
    "👍",
    "😂😂",
    "好的 thanks",
    "ok thanks, 谢谢",
    "OK thanks! 好的",
    "ｏｋ",
    "...",
    "",
    "  ",
    "好的谢谢",
    "ok thanks",
    "嗯嗯好的",
    "好的好的谢谢啦",
    "谢谢你辛苦了",
    "好的我知道了",
    "收到谢谢",
    "ok谢谢",
    "thanks ok 好的",
    "OK thank you so much bye",
    "okay got it thank you",
]

KEPT = [
    "I went hiking with my sister last week",
    "我叫李雷",
    "李雷",
    "Tuesday",
    "Thanks, Tuesday",
    "8000",
    "6",
    "yes",
    "no",
    "不是",
    "我同意",
    "好的，我叫李雷",
    "OK, the budget is 8000",
    "ok 周三",
    "Great, Paris!",
    "See you tomorrow",
    "明天见",
    "谢谢，地址是望京",
    "It was a hard day",
    "我妈妈住院了",
    "That's great, I got the job",
    "哈哈我也养猫",
    "Me too",
    "今天好累",
    "订单A2024-0815",
    "ok" * 200,
    "ok! " * 50,
    "好的我明天去北京",
    "好的早上七点",
    "谢谢我住北京",
    "好的不要辣",
    "ok buy milk",
    "ok my name is Sam",
    "thanks to Bob",
    "no thanks",
    "嗯八千",
    "行改周五",
]


@pytest.mark.parametrize("text", DROPPED)
def test_small_talk_is_dropped(text: str) -> None:
    assert is_droppable(turn_signals(text))


@pytest.mark.parametrize("text", KEPT)
def test_content_is_kept(text: str) -> None:
    assert not is_droppable(turn_signals(text), age_turns=10)


@pytest.mark.parametrize(
    "text",
    [
        "请记住我对花生过敏",
        "记住：周五交报告",
        "帮我记一下车位在B2",
        "Remember this: my dog is Max",
        "Please remember that I'm vegan",
        "Don't forget my meeting",
        "Keep in mind I live in Paris",
    ],
)
def test_explicit_requests_to_remember(text: str) -> None:
    assert turn_signals(text).explicit_remember


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember my dog?",
        "你还记得我的名字吗",
        "记住了吗？",
        "I can't forget her",
        "Remember when we met?",
    ],
)
def test_questions_about_memory_are_no_requests(text: str) -> None:
    assert not turn_signals(text).explicit_remember


@pytest.mark.parametrize(
    "text",
    [
        "决定了，就用拿铁",
        "就这么定了",
        "We decided to use Postgres",
        "Let's go with the blue one",
    ],
)
def test_decisions(text: str) -> None:
    assert turn_signals(text).decision


@pytest.mark.parametrize(
    "text",
    [
        "Did you decide?",
        "你决定了吗？",
        "如果决定了就告诉我",
        "天气不错",
    ],
)
def test_no_decisions(text: str) -> None:
    assert not turn_signals(text).decision


@pytest.mark.parametrize(
    "text",
    [
        "必须在周五前完成",
        "不要超过5000元",
        "以后都用英文回复",
        "It must not exceed 10 MB",
        "Always reply in Chinese",
    ],
)
def test_constraints(text: str) -> None:
    assert turn_signals(text).constraint


def test_counts() -> None:
    signals = turn_signals("我喜欢美式，预算8000到12000，I love tea", name_count=1, fact_count=2)
    assert (signals.preference_count, signals.number_count, signals.name_count, signals.fact_count) == (2, 2, 1, 2)
    assert signals.task_keyword


@pytest.mark.parametrize(
    "text",
    [
        "什么时候到",
        "你喜欢什么",
        "where are you",
        "Is it?",
        "好吗",
        "are you there",
    ],
)
def test_questions(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "我叫李雷",
        "I know where it is",
        "他来了",
    ],
)
def test_statements(text: str) -> None:
    assert not is_question(text)


@given(st.text(max_size=200) | st.text(alphabet=st.sampled_from("ok好的哈!， thanks"), max_size=160))
def test_never_raises(text: str) -> None:
    assert turn_signals(text).length >= 0


@pytest.mark.parametrize("unit", ["好", "so ", "oh ", "ok ", "哈", "!", "that is so "])
@pytest.mark.timeout(20)
def test_long_texts_are_read_in_bounded_time(unit: str) -> None:
    turn_signals(unit * 20_000)
    turn_signals(unit * (160 // len(unit)))


@pytest.mark.parametrize("text", ASKED_TO_REMEMBER)
def test_what_is_to_be_remembered_is_heard(text: str) -> None:
    assert turn_signals(text).explicit_remember


@pytest.mark.parametrize("text", NOT_ASKED_TO_REMEMBER)
def test_talking_of_memory_is_not_asking_for_it(text: str) -> None:
    assert not turn_signals(text).explicit_remember


@pytest.mark.parametrize("text", CONSTRAINTS)
def test_constraints_are_heard(text: str) -> None:
    assert turn_signals(text).constraint


@pytest.mark.parametrize("text", NO_CONSTRAINTS)
def test_words_of_limits_alone_are_no_constraint(text: str) -> None:
    assert not turn_signals(text).constraint
