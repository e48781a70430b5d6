"""Rules the speaker lays down: what must be, must not be, and is always to be done."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rearview.domain.fact import Stance

_ZH_SOOTHING = "担心|客气|急|紧张|谢|误会|怕|着急|介意|见怪|忘|紧|想|理|管|动|走|闹|说了|生气|难过|哭|笑|再说"
_ZH_THING = (
    "(?:代码|报告|酒店|房间|航班|回复|回答|邮件|文档|文件|座位|餐厅|菜|会议|合同"
    "|视频|图片|标题|内容|方案|座椅|车|学校|房子|密码|数据|输出|摘要)"
)
_EN_TASK = (
    "use|call|send|share|tell|show|include|write|put|add|delete|remove|deploy|push|commit|merge|contact|email|text"
    "|message|book|order"
    "|buy|schedule|recommend|suggest|mention|ask|reply|answer|respond|speak|translate|change|modify|edit|store|save"
    "|publish|post"
    "|disclose|reveal|charge|pay|spend|exceed|transfer|assume|interrupt|wake|disturb|invite|read|touch|open|close|run"
    "|install|ship"
    "|sign|accept|cancel|round|repeat|format|output|print|log|explain|quote|cook|serve|record|track|start|set|make"
    "|check|confirm|cc"
    "|address|mix|skip|round|approve|download|upload|expose|restart|seat|give (?!up)|bring (?!you|me)"
)
_EN_DOING = (
    "sending|calling|recommending|suggesting|showing|using|asking|adding|telling|messaging|emailing|texting|repeating"
    "|reminding|putting"
    "|including|writing|changing|deleting|charging|sharing|translating|assuming"
)
_EN_THINGS = r"(?:(?:the|all|every|any|each) (?!best\b|time\b|day\b|people\b|kids\b|way\b)[a-z]+(?: [a-z]+)?)"

_RULES: tuple[tuple[re.Pattern[str], bool, Stance], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), denied, stance)
    for pattern, denied, stance in (
        (
            rf"(?:请|麻烦)?(?:你)?(?:不要再|别再|以后(?:都|请|你)*(?:不要|别|不许|不准)(?:再)?)(?!{_ZH_SOOTHING})(?P<rule>.{{2,60}})",
            True,
            Stance.CHANGE,
        ),
        (
            rf"(?:请|麻烦)?(?:你)?(?:绝对|千万|永远|务必|一定)+(?:不要|别|不能|不可以|不许|不准)(?!{_ZH_SOOTHING})(?P<rule>.{{2,60}})",
            True,
            Stance.STANDING,
        ),
        (
            rf"(?:请|麻烦)?(?:你)?(?:不要|请别|别)(?=[在给把用向跟对叫发](?!我说))(?!{_ZH_SOOTHING})(?P<rule>.{{4,60}})",
            True,
            Stance.STANDING,
        ),
        (rf"(?:{_ZH_THING}[里中上内]?)?(?:严禁|禁止|不允许|不准|不许|不得)(?P<rule>.{{2,60}})", True, Stance.STANDING),
        (
            rf"{_ZH_THING}(?:里|中|上|内|都)?(?:绝对|一定|都)*(?:不要|不能|不可以|别)(?P<rule>.{{2,60}})",
            True,
            Stance.STANDING,
        ),
        (
            r"(?:请|麻烦)?(?:你)?(?:以后|今后|从现在起|从现在开始)[,，]?(?:请)?(?:你)?(?:都|一律|只|必须|要|统一)+(?P<rule>(?![吃喝坐]).{2,60})",
            False,
            Stance.CHANGE,
        ),
        (
            rf"(?:所有|全部|每次|任何)?{_ZH_THING}(?:里|中|上|内|都|也)?(?:必须|务必|一定要|需要|要|只能)(?!是不是)(?P<rule>.{{2,60}})",
            False,
            Stance.STANDING,
        ),
        (r"(?:请|麻烦)?(?:你)?(?:务必|必须|一定要|始终|总是)(?P<rule>.{2,60})", False, Stance.STANDING),
        (
            rf"(?:please )?(?:don't|do not|never)(?: ever)? (?P<rule>(?:{_EN_TASK})\b(?! me wrong| sure"
            rf"| sense).{{3,80}})",
            True,
            Stance.STANDING,
        ),
        (rf"(?:please )?(?:stop|quit) (?P<rule>(?:{_EN_DOING})\b.{{2,80}})", True, Stance.CHANGE),
        (rf"(?:please )?always (?P<rule>(?:{_EN_TASK})\b.{{2,80}})", False, Stance.STANDING),
        (rf"(?:please )?only (?P<rule>(?:{_EN_TASK})\b.{{2,80}})", False, Stance.STANDING),
        (
            rf"(?:you|we|{_EN_THINGS}) (?:must|should|shall|have to|has to|can|may)(?: not|n't"
            rf"| never) (?P<rule>(?!have been\b).{{3,80}})",
            True,
            Stance.STANDING,
        ),
        (
            rf"(?:you|{_EN_THINGS}) (?:mustn't|must never|can never|are not allowed to"
            rf"|is not allowed to) (?P<rule>.{{3,80}})",
            True,
            Stance.STANDING,
        ),
        (rf"you (?:must|have to|need to) (?:always )?(?P<rule>(?:{_EN_TASK})\b.{{3,80}})", False, Stance.STANDING),
        (
            rf"{_EN_THINGS} (?:must|has to|have to|needs? to|shall) (?!not\b|have been\b)(?P<rule>.{{3,80}})",
            False,
            Stance.STANDING,
        ),
        (
            r"(?:(?:it|they) )?(?:has to|needs to) (?P<rule>(?!be (?:the|an?)\b"
            r"|have been\b|happen|stop|go\b)[a-z].{3,60})",
            False,
            Stance.STANDING,
        ),
        (
            r"(?:please )?no (?P<rule>(?:calls?|emails?|messages?|meetings?|deliver(?:y|ies)|visits?|texts?) .{3,40})",
            True,
            Stance.STANDING,
        ),
        (
            r"(?:i|we) can only (?P<rule>(?:meet|talk|work|do|take calls|travel|be reached) .{2,50})",
            False,
            Stance.STANDING,
        ),
        (rf"(?:所有)?{_ZH_THING}?请(?:一律|都|统一|始终)?(?P<rule>用.{{2,20}})", False, Stance.STANDING),
        (
            r"(?P<rule>.{2,10}(?:后|前|时|期间)(?:请)?(?:不要|别|不准|不许)(?:再)?(?:打扰|联系|打电话|发|叫|找).{0,12})",
            True,
            Stance.STANDING,
        ),
        (r"(?P<rule>.{2,12}(?:前|之前|时|后)必须.{2,30})", False, Stance.STANDING),
        (
            r"(?:please )?(?P<rule>(?:keep|limit) .{2,40} (?:under|below|within|to|at) .{0,12}[0-9].{0,20})",
            False,
            Stance.STANDING,
        ),
        (r"no (?P<rule>[a-z]+(?: [a-z]+)?)(?: allowed| ever| under any circumstances)", True, Stance.STANDING),
    )
)
_TAIL = re.compile(r"(?:[,， ]+(?:please|thanks|okay|ok)|吧|哦|啊|了|哈|谢谢)+$", re.IGNORECASE)
# "Don't use it": what it is that nobody shall use was said elsewhere.
_OF_THE_MOMENT = re.compile(r"[a-z]+ (?:it|that|this|them|those|these)$", re.IGNORECASE)


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
            if rule and not _OF_THE_MOMENT.match(rule):
                yield LaidDown(rule, denied, stance)
            return
