"""Rules the speaker lays down: what must be, must not be, and is always to be done."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rearview.domain.fact import Stance

_ZH_SOOTHING = "担心|客气|急|紧张|谢|误会|怕|着急|介意|见怪|忘|紧|想|理|管|动|走|闹|说了|生气|难过|哭|笑|再说"
_ZH_THING = "(?:代码|报告|酒店|房间|航班|回复|回答|邮件|文档|文件|座位|餐厅|菜|会议|合同|视频|图片|标题|内容|方案|座椅|车|学校|房子|密码|数据|输出|摘要)"
_EN_SOOTHING = (
    r"worry|mention|forget|be sorry|bother|know|think|mind|get me wrong|hesitate|panic|want|need|have|like|care|understand|remember|believe"
    r"|see|feel|say|go there|get it|agree|recall|expect|even|really|ask me why"
)
_EN_MUST = r"(?:must|have to|has to|needs? to|should always|shall)"

_RULES: tuple[tuple[re.Pattern[str], bool, Stance], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), denied, stance)
    for pattern, denied, stance in (
        (rf"(?:请|麻烦)?(?:你)?(?:不要再|别再|以后(?:都)?(?:不要|别|不许|不准)(?:再)?)(?!{_ZH_SOOTHING})(?P<rule>.{{2,60}})", True, Stance.CHANGE),
        (rf"(?:请|麻烦)?(?:你)?(?:绝对|千万|永远|务必|一定)+(?:不要|别|不能|不可以|不许|不准)(?!{_ZH_SOOTHING})(?P<rule>.{{2,60}})", True, Stance.STANDING),
        (rf"(?:请|麻烦)?(?:你)?(?:不要|请别|别)(?=[在给把用向跟对叫发](?!我说))(?!{_ZH_SOOTHING})(?P<rule>.{{4,60}})", True, Stance.STANDING),
        (rf"(?:{_ZH_THING}[里中上内]?)?(?:严禁|禁止|不允许|不准|不许|不得)(?P<rule>.{{2,60}})", True, Stance.STANDING),
        (rf"{_ZH_THING}(?:里|中|上|内|都)?(?:绝对|一定|都)*(?:不要|不能|不可以|别)(?P<rule>.{{2,60}})", True, Stance.STANDING),
        (r"(?:请|麻烦)?(?:你)?(?:以后|今后|从现在起|从现在开始)[,，]?(?:请)?(?:你)?(?:都|一律|只|必须|要|统一)+(?P<rule>(?![吃喝坐]).{2,60})", False, Stance.CHANGE),
        (rf"(?:所有|全部|每次|任何)?{_ZH_THING}(?:里|中|上|内|都|也)?(?:必须|务必|一定要|需要|要|只能)(?!是不是)(?P<rule>.{{2,60}})", False, Stance.STANDING),
        (r"(?:请|麻烦)?(?:你)?(?:务必|必须|一定要|始终|总是)(?P<rule>.{2,60})", False, Stance.STANDING),
        (rf"(?:please )?(?:don't|do not|never)(?: ever)? (?!(?:{_EN_SOOTHING})\b)(?P<rule>[a-z]{{2,}} .{{3,80}})", True, Stance.STANDING),
        (r"(?:please )?(?:stop|quit) (?P<rule>[a-z]+ing .{2,80})", True, Stance.CHANGE),
        (r"(?:please )?always (?!(?:remember|a|an|the|been|was|is)\b)(?P<rule>[a-z]+ .{2,80})", False, Stance.STANDING),
        (r"(?:please )?only (?P<rule>(?:use|call|send|reply|answer|book|show|recommend|write|email|contact|give|speak)\b.{2,80})", False, Stance.STANDING),
        (rf"(?!i\b|we have\b|it\b|that\b|there\b|this\b)(?:you|we|it|(?:the|all|every|any|my|our) [a-z]+(?: [a-z]+)?) {_EN_MUST} (?:not|never) (?P<rule>.{{3,80}})", True, Stance.STANDING),
        (r"(?!i\b|it\b|that\b|there\b|this\b)(?:you|we|(?:the|all|every|any|our) [a-z]+(?: [a-z]+)?) (?:mustn't|must never|can never|are not allowed to|is not allowed to) (?P<rule>.{3,80})", True, Stance.STANDING),
        (rf"(?!i\b|it\b|that\b|there\b|this\b)(?:(?:the|all|every|any|our) [a-z]+(?: [a-z]+)?|you) {_EN_MUST} (?!have been\b|be (?:tired|kidding|joking|crazy)\b|not\b)(?P<rule>.{{3,80}})", False, Stance.STANDING),
        (r"(?:please )?(?P<rule>(?:keep|limit) .{2,40} (?:under|below|within|to|at) .{1,30})", False, Stance.STANDING),
        (r"no (?P<rule>[a-z]+(?: [a-z]+)?)(?: allowed| ever| under any circumstances)", True, Stance.STANDING),
    )
)
_TAIL = re.compile(r"(?:[,， ]+(?:please|thanks|okay|ok)|吧|哦|啊|了|哈|谢谢)+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LaidDown:
    """A rule in its words, without the word that makes it one; `denied` for what must not be."""

    rule: str
    denied: bool
    stance: Stance


def laid_down(clause: str) -> Iterator[LaidDown]:
    """The rule that a clause lays down, if it does."""
    for pattern, denied, stance in _RULES:
        match = pattern.match(clause)
        if match:
            rule = _TAIL.sub("", match["rule"]).strip(" .")
            if rule:
                yield LaidDown(rule, denied, stance)
            return
