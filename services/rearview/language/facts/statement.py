"""What a rule for clear first-person statements is made of."""

import re
from dataclasses import dataclass

from rearview.domain.fact import Stance, Strength

ZH_TAIL = "(?:左右|上下|以内|吧|了|啦|哦|呢|啊|呀|哈|嘛|呗|噢|诶|~)*"
ZH_SELF = (
    "我(?:自己|本人)?(?:现在|目前|今年|已经|刚刚?|最近|其实|一直|从小|上个?月|上周|去年|昨天|前天)*(?:就|也|还|又)?"
)
ZH_SELF_NOW = "我(?:自己|本人)?(?:现在|目前|今年|已经|最近|其实|一直|从小)*(?:就|也|还|又)?"
"""The speaker as the subject of what is so; "我去年做销售" tells what was."""

EN_SELF = r"i(?:'m| am)(?: (?:currently|now|actually|also|still|already))?"
EN_TAIL = (
    r"(?: (?:now|too|as well|please|these days|nowadays|at the moment|at present|lately|though|tho|currently|anyway"
    r"|already|sorry|(?:ever )?since [^,]{2,40}|for (?:(?:about|over|almost|nearly|around|like|the (?:last|past)) )*"
    r"[a-z0-9]+ (?:years?|months?|weeks?|decades?)|for (?:years|ages|a while|a living))){0,2}"
)
"""Words that may close any English statement: when, for how long, and fillers."""
NAME_EN = r"(?-i:[A-Z][a-z]+(?:[ -][A-Z][a-z]+){0,2})"
TITLED_NAME_EN = rf"(?:(?-i:Dr|Mr|Mrs|Ms|Prof)\.? )?{NAME_EN}"
NAME_ZH = "[\u4e00-\u9fff·]{2,4}"
_SURNAME = (
    "[赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻苏潘葛范彭郎鲁韦马苗方俞任袁柳鲍史唐费薛雷贺倪汤"
    "殷罗毕郝安常乐于傅齐康伍余顾孟平黄穆萧尹姚邵汪祁毛戴宋庞熊纪舒屈项祝董梁杜阮蓝闵席季贾路江童颜郭梅盛林钟徐邱骆高夏蔡田樊胡"
    "凌霍虞万柯卢莫房解应宗丁邓洪包左石崔吉龚程邢陆荣翁惠段焦侯宓全班秋仲宁仇甘祖武符刘景詹龙叶司黎白蒲岳]"
)
ZH_PERSON = (
    # "周末", "高中" and "夏天" are nobody.
    f"(?!周[末边围年]|周[一二三四五六日天][我要有下上早晚的开去是到前后]|[夏秋]天|高[中考兴手]|方[便案向]|时[候间]|管理"
    f"|平[时常]|常[常用]|安[全排]|包[括含]|计[划算]|小[孩时区狗猫]|老[家是师板公婆爸妈大]|金[额融])"
    f"(?:[小老阿][\u4e00-\u9fff]|{_SURNAME}(?:总|工|姐|哥|老师|主任|医生|教授|律师|经理)"
    f"|{_SURNAME}[\u4e00-\u9fff]{{1,2}}(?<!员))"
)
"""A Chinese name or the way a person is called: 周敏, 小李, 王总."""

FOR_TOPIC = (
    r"(?:for|on) (?:buying |getting )?(?:(?:the|my|our|this|that|an?|some) )*(?:(?:brand )?(?:new|used) )*"
    r"(?P<topic>(?!(?:it|that|this|these|those|them|us|me|you|him|her|everything|anything|all|both|each|any|some|now"
    r"|today"
    r"|tonight|tomorrow|the|my|our|buying|getting|next|last|one|two|three|four|five|six|week|weekend|day|days|time"
    r"|moment"
    r"|people|person|night|nights|quarter|sure|example|instance|real|once)\b)"
    r"[a-z][a-z'-]*(?: (?!(?:is|are|was|to|has|have|at|of|must|should|can|will|would)\b)[a-z][a-z'-]*){0,2}?"
    r"(?: (?:to|in|with) (?-i:[A-Z])[a-z]+)?)"
)
"""What an amount is for: "for the sofa", "on a new camera". A stretch of time or somebody is no topic."""


@dataclass(frozen=True, slots=True)
class FactRule:
    """A pattern that is matched at the start of a clause and must reach its end.

    Its groups say what was found: `value`; `list` for several things; `number` with `sign`, `scale` and `unit`;
    `replaced` for what the value takes the place of; `topic` for what of the speaker's it is about; `called` for a
    pet's name; `degree` for adverbs of strength. `fixed` is the value of a rule whose words need no group. A rule
    of which only common values are believed ("I'm a tea person") is `known`.
    """

    attribute: str
    pattern: re.Pattern[str]
    denied: bool = False
    stance: Stance = Stance.STANDING
    strength: Strength = Strength.NORMAL
    fixed: str = ""
    english: bool = False
    known: bool = False


def zh(
    attribute: str,
    pattern: str,
    *,
    denied: bool = False,
    stance: Stance = Stance.STANDING,
    strength: Strength = Strength.NORMAL,
    fixed: str = "",
    known: bool = False,
) -> FactRule:
    """Return a rule for Chinese words, particles at the end allowed."""
    compiled = re.compile(f"(?:{pattern}){ZH_TAIL}\\s*$", re.IGNORECASE)
    return FactRule(attribute, compiled, denied, stance, strength, fixed, known=known)


def en(
    attribute: str,
    pattern: str,
    *,
    denied: bool = False,
    stance: Stance = Stance.STANDING,
    strength: Strength = Strength.NORMAL,
    fixed: str = "",
    known: bool = False,
) -> FactRule:
    """Return a rule for English words, a few closing words allowed."""
    compiled = re.compile(f"(?:{pattern}){EN_TAIL}\\s*$", re.IGNORECASE)
    return FactRule(attribute, compiled, denied, stance, strength, fixed, english=True, known=known)
