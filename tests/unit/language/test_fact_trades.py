"""What one does for a living is believed of the speaker and of now alone: a job holds one value at a time."""

import pytest

from rearview.domain.fact import Polarity
from rearview.language.facts import extract_facts


def told(text: str) -> set[str]:
    return {
        f"{'-' if fact.polarity is Polarity.DENIED else ''}{fact.subject} {fact.attribute}={fact.value_key}"
        for fact in extract_facts(text, "user")
    }


def works(text: str) -> set[str]:
    """What a turn tells of the speaker's work."""
    return {fact for fact in told(text) if fact.split()[1].startswith(("job", "employer"))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我叫王芳，做会计的", {"user job=accountant"}),
        ("我叫李雷，住在杭州，喜欢跑步，做测试的", {"user job=测试"}),
        ("我32岁，平时喜欢做手账，是个老师", {"user job=teacher"}),
        ("我在北京，做 backend 的", {"user job=backend"}),
        ("I'm Lily，做 QA 的", {"user job=qa"}),
        ("我刚毕业，做测试的", {"user job=测试"}),
        ("我换工作了，现在做会计", {"user job=accountant"}),
        ("我呢，做翻译的", {"user job=translator"}),
        ("我刚跳槽到腾讯，做测试", {"user employer=tencent", "user job=测试"}),
        ("我是教师，周末打球", {"user job=teacher"}),
        ("我是用户运营", {"user job=用户运营"}),
        ("我在招商银行做风控", {"user employer=招商银行"}),
        ("I'm a teacher, just quit smoking", {"user job=teacher"}),
        ("我是会计，我老婆退休了", {"user job=accountant"}),
    ],
)
def test_what_the_speaker_does(text: str, expected: set[str]) -> None:
    assert works(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        # Somebody else, whom the clause before brings up.
        "我最近认识了一个男生，做会计的",
        "我最近认识了个女生，是个护士",
        "我现在有个同事，做后端的",
        "我刚面试了一个候选人，现在在字节做运营",
        "我最近 interview 了一个 candidate，做 backend 的",
        "我住在杭州，最近认识了一个男生，做销售的",
        "我跟我爸住，做会计的",
        "我最近在追一部剧，是个律师",
        # What money, a plan, a thing or a course is for.
        "我预算15万，做前端",
        "我打算辞职，做主播",
        "我买了台 MacBook，做前端的",
        "我在读博，做算法和测试",
    ],
)
def test_a_clause_without_a_subject_is_not_of_the_speaker(text: str) -> None:
    assert works(text) == set()


@pytest.mark.parametrize(
    "text", ["我最近认识了一个男生，住在杭州", "我上周见了三位客户，住在上海", "我带了个 intern，住在深圳"]
)
def test_nor_where_it_tells_a_home(text: str) -> None:
    assert told(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "我是做金融的",
        "我做电商的",
        "我是做手工皂的",
        "我从事教育行业",
        "我是做 AI 的",
        "I work in finance",
    ],
)
def test_a_field_is_no_occupation(text: str) -> None:
    assert works(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        # Skill, play, unpaid posts.
        "我是个新手司机",
        "我是业余摄影师",
        "我是差学生",
        "我是第一次当司机",
        "我是 good cook",
        "我是群 admin",
        "我在学校当学生会助理",
        # What is done to those who do it.
        "我现在就是等客服",
        "我是预约医生",
        "我的工作是培训销售",
        "我是家长不是老师",
        "我是 vegan 不是 chef",
        # Tasks, hours, and what goes without saying.
        "我做翻译吧",
        "我做测试了",
        "我平时做翻译",
        "我是晚上8PM",
        "我又不是医生",
        "我在医院做检查",
        "我在北京做核酸检测",
        "我在健身房做瑜伽",
        "我在腾讯做了五年",
        "我刚毕业，在找产品经理的工作",
        # What was.
        "我昨天做翻译",
        "我去年在学校做老师",
        "我去年在腾讯上班",
        "我在上家公司做前端",
    ],
)
def test_no_trade(text: str) -> None:
    assert works(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "五年前，我是会计",
        "以前，我是会计",
        "刚工作那会儿，我是做销售的",
        "疫情前，我在上海当导游",
        "一开始，我是 PM",
        "大家都以为，我是医生",
        "在游戏里，我是医生",
        "In the game, I'm a doctor",
        "In this scenario, I live in Paris",
        "那几年，我住在上海",
    ],
)
def test_another_time_or_world_is_not_now(text: str) -> None:
    assert told(text) == set()


def test_what_changed_then_is_so_since() -> None:
    assert told("五年前，我搬到了上海") == {"user residence=shanghai"}
    assert told("三年前，我毕业于浙江大学") == {"user school=浙江大学"}


def test_a_frame_ends_with_now() -> None:
    assert told("大家都以为，我是医生，其实现在我是护士") == {"user job=nurse"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("我是会计，上个月刚辞职", set()),
        ("我叫老李，做会计的，刚退休", {"user name=老李"}),
        ("我在字节当 PM，去年离职了", set()),
        ("我住北京，做运营，上周刚被裁", {"user residence=beijing"}),
        ("I'm a nurse but I retired last year", set()),
        ("I work at Google, but I just quit", set()),
    ],
)
def test_work_that_is_over_is_no_work(text: str, left: set[str]) -> None:
    assert told(text) == left


def test_a_film_that_is_watched_is_no_frame() -> None:
    assert "user residence=shanghai" in told("爱看电影，我住在上海")


def test_a_home_of_last_year_is_none() -> None:
    assert told("我去年住在上海") == set()
    assert told("我去年定居上海") == {"user residence=shanghai"}
