"""Conversations in Chinese, English and both, with questions whose answers are known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from rearview.client import Turn

TIME_ZONE = "Asia/Shanghai"
NOW = datetime(2026, 3, 18, 4, 0, tzinfo=UTC)
"""A Wednesday; last week is 9 to 15 March."""

EARLY = datetime(2026, 2, 3, 3, 0, tzinfo=UTC)
LAST_WEEK = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)
YESTERDAY = datetime(2026, 3, 17, 2, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what stands in one of the first `within` hits."""

    query: str
    expected: str
    within: int = 3


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns by session, a turn that is asked for at once, and one question for each way of asking."""

    name: str
    sessions: dict[str, list[Turn]]
    at_once: Turn
    asked_at_once: Question
    exact: Question
    paraphrase: Question
    time: Question
    alias: Question
    changed: Question
    nothing_to_do_with_it: str

    @property
    def questions(self) -> dict[str, Question]:
        """The questions by the way of asking."""
        return {kind: getattr(self, kind) for kind in ("exact", "paraphrase", "time", "alias", "changed")}

    @property
    def turn_count(self) -> int:
        return sum(len(turns) for turns in self.sessions.values())


def _user(text: str, moment: datetime) -> Turn:
    return Turn("user", text, occurred_at=moment)


def _assistant(text: str, moment: datetime) -> Turn:
    return Turn("assistant", text, occurred_at=moment)


CHINESE = Conversation(
    name="zh",
    sessions={
        "trip": [
            _user("我们五月想去云南玩，预算是八千块。", EARLY),
            _assistant("八千块两个人在云南玩五天足够了。", EARLY),
            _user("机票订好了，订单号是YN2026-0517-88，麻烦记一下。", EARLY),
            _assistant("好的，订单号记下了。", EARLY),
            _user("对了，我对芒果过敏，一吃嘴唇就肿。", EARLY),
            _assistant("明白，点甜品的时候我会避开。", EARLY),
        ],
        "west-lake": [
            _user("我在西湖边碰到了大学同学周雨桐，她现在开了一家陶艺工作室。", LAST_WEEK),
            _assistant("真巧！工作室在哪里？", LAST_WEEK),
            _user("在龙井路，她邀请我去做杯子。", LAST_WEEK),
        ],
        "change": [
            _user("我想了想，云南的预算改成一万二吧，多住两晚。", YESTERDAY),
            _assistant("好的，预算改为一万二。", YESTERDAY),
        ],
    },
    at_once=_user("备用钥匙我放在鞋柜最下面那层了。", NOW),
    asked_at_once=Question("备用钥匙在哪里？", "鞋柜"),
    exact=Question("请问订单号是YN2026-0517-88的那张票是什么票？", "YN2026-0517-88", 1),
    paraphrase=Question("有什么水果是我不能吃的？", "芒果"),
    time=Question("上周我遇到了谁？", "周雨桐"),
    alias=Question("What is the budget for Yunnan?", "预算"),
    changed=Question("云南旅行现在的预算是多少？", "一万二"),
    nothing_to_do_with_it="量子色动力学的渐近自由是什么意思？",
)

ENGLISH = Conversation(
    name="en",
    sessions={
        "trip": [
            _user("We want to visit Iceland in May, and our budget is 3,000 euros.", EARLY),
            _assistant("3,000 euros is plenty for two people and five days.", EARLY),
            _user("The flight is booked, the booking reference is KEF-20260517-4.", EARLY),
            _assistant("Noted, I will keep the reference.", EARLY),
            _user("By the way, I am allergic to shellfish, my throat swells up.", EARLY),
            _assistant("Understood, I will avoid it when I pick restaurants.", EARLY),
        ],
        "market": [
            _user("I ran into Priya from college at the farmers market, she runs a pottery studio now.", LAST_WEEK),
            _assistant("What a coincidence! Where is the studio?", LAST_WEEK),
            _user("On Mill Lane, she invited me to throw a mug.", LAST_WEEK),
        ],
        "change": [
            _user("We changed our minds about Iceland, the budget is 4,500 euros now, two more nights.", YESTERDAY),
            _assistant("Got it, the budget is 4,500 euros.", YESTERDAY),
        ],
    },
    at_once=_user("I put the spare key on the lowest shelf of the shoe cabinet.", NOW),
    asked_at_once=Question("Where is the spare key?", "shoe cabinet"),
    exact=Question("Which booking is KEF-20260517-4?", "KEF-20260517-4", 1),
    paraphrase=Question("Is there any food that I must not eat?", "shellfish"),
    time=Question("Who did I meet last week?", "Priya"),
    alias=Question("冰岛的预算是多少？", "budget"),
    changed=Question("How much can we spend on Iceland now?", "4,500"),
    nothing_to_do_with_it="What does asymptotic freedom in quantum chromodynamics mean?",
)

MIXED = Conversation(
    name="mixed",
    sessions={
        "offsite": [
            _user("五月的 offsite 定在 Suzhou，budget 是 20000 元。", EARLY),
            _assistant("好的，Suzhou 的 offsite，budget 20000 元。", EARLY),
            _user("hotel 订好了，confirmation number 是SZ-88231-B，到时候出示就行。", EARLY),
            _assistant("OK，confirmation number 记下了。", EARLY),
            _user("我 lactose intolerant，喝牛奶会肚子疼。", EARLY),
            _assistant("明白，咖啡都换成 oat milk。", EARLY),
        ],
        "meetup": [
            _user("在 Python meetup 上认识了 Lena，她在做一个 compiler 的 startup。", LAST_WEEK),
            _assistant("有意思，她的公司在哪里？", LAST_WEEK),
            _user("在张江，她问我要不要去 visit 一下。", LAST_WEEK),
        ],
        "change": [
            _user("老板批了，offsite 的预算改成 30000 元了，多住一晚。", YESTERDAY),
            _assistant("收到，offsite 预算 30000 元。", YESTERDAY),
        ],
    },
    at_once=_user("会议室的 HDMI 转接头我放在 printer 旁边的抽屉里了。", NOW),
    asked_at_once=Question("HDMI adapter 在哪儿？", "printer"),
    exact=Question("SZ-88231-B是哪家 hotel 的单号？", "SZ-88231-B", 1),
    paraphrase=Question("Which drink upsets my stomach?", "lactose"),
    time=Question("上周我在 meetup 认识了谁？", "Lena"),
    alias=Question("What is the 预算 of the offsite?", "预算"),
    changed=Question("offsite 现在有多少 budget？", "30000"),
    nothing_to_do_with_it="量子色动力学里的 asymptotic freedom 是什么？",
)

CONVERSATIONS = (CHINESE, ENGLISH, MIXED)
