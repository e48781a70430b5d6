"""Signals of a turn that importance is computed from, in Chinese, English and mixed text.

Only clear small talk is called so: every clause of the turn must be a known courtesy. One clause with content keeps
the whole turn, and an answer of one word ("Tuesday", "8000", "李雷") is content.
"""

import re

from rearview.domain.importance import TurnSignals
from rearview.language.scripts import HAN, fold_width_in_place, has_han
from rearview.language.small_talk import is_acknowledgement, is_small_talk

# A Chinese number begins where its run of numerals does, so that a long run is read once and not once for each of them.
_NUMBER = re.compile(
    "[0-9]+(?:[.,:/-][0-9]+)*"
    "|(?<![一二两三四五六七八九十百千万])[一二两三四五六七八九十百千万]++(?=[个块元岁天周月年点号人次斤里])"
)
_HAN = re.compile(f"[{HAN}]")
_WHITE_SPACE = re.compile(r"\s+")

_ZH_REMEMBER = re.compile("记住|记下|记一下|别忘了|不要忘|牢记|帮我记|请记得|备忘")
_EN_REMEMBER = re.compile(
    r"\bplease (?:always )?remember\b|(?:^|[.!?] )always remember\b"
    r"|\b(?:don't forget|do not forget|make a note|note down|take note|keep in mind"
    r"|for the record|for future reference)\b|^remember\b|[.!?] remember (?:that|this|my)\b",
    re.IGNORECASE,
)
_EN_ASKS_MEMORY = re.compile(
    r"\b(?:do|did|can|could) (?:you|i|we) (?:still |even )?remember\b|\bremember when\b", re.IGNORECASE
)
_ZH_ASKS_MEMORY = re.compile("记得.{0,30}[吗么?？]|还记得|记不记得|记住了吗|记下了吗")

_ZH_PREFERENCE = re.compile(
    "喜欢|讨厌|不爱|最爱|偏好|偏爱|更爱|宁愿|宁可|受不了|不吃|不喝|过敏|习惯了?用|爱[吃喝看听玩用]|忌口|不能吃|希望你?|倾向"
)
_EN_PREFERENCE = re.compile(
    r"\b(?:like|likes|love|loves|hate|hates|dislike|prefer|prefers|favou?rite|enjoy|enjoys|allergic|can't stand|rather"
    r"|vegetarian|vegan|fan of|into)\b",
    re.IGNORECASE,
)
_ZH_DECISION = re.compile("决定了?|定下来|就这么定|确定用|确定选|最终选|我选|就选|敲定|拍板|改成|换成|说定")
_EN_DECISION = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have)? (?:just |finally )?decided|let's go with|we'll go with|i'll go with"
    r"|going with|final decision"
    r"|settled on|we agreed|agreed to|i choose|i chose|we chose|switch(?:ed|ing)? to)\b",
    re.IGNORECASE,
)
_ZH_CONSTRAINT = re.compile(
    "必须|(?<!不)不得(?!不|了)|不允许|不要超过|不能超过|不超过|(?:至少|最多)[要给留]?\\s*[0-9一二两三四五六七八九十百千万半]|最晚|务必|禁止"
    "|不准|以后都|以后别|以后不要|只能|上限|下限|截止"
    "|(?<![一二两三四五六七八九十百几数\\d])千万(?:别|不要|不能|不可|勿|要)|绝对?不(?:能|可以?|许|要)(?!再?[好错])"
    "|严禁|切勿|请勿|切记不|(?:^|[，。；！,;!\\s]|你|请|大家|每次|之?前|之?后)一定(?:要|不要|不能|别)"
)
_EN_CONSTRAINT = re.compile(
    r"\b(?:must(?: not|n't)?(?! have\b|'ve\b| be\b| of\b)|(?:at most|at least|no more than|not more than)"
    r" (?:[$€£¥]?\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|half)|no later than|from now on|never "
    r"(?:use|call|send|do|write|put)"
    r"|always (?:use|call|send|do|write|put|answer|reply)|only use|deadline|not allowed|required to)\b"
    # An order not to: "Never deploy on Fridays", "please don't call before nine"; not "never mind", "never been there".
    r"|(?:^|[.!,;:]\s*)(?:please )?never (?!mind\b|again\b|been\b|seen\b|heard\b|knew\b|had\b|did\b|said\b|thought\b"
    r"|\w+(?:ed|ing)\b)[a-z]+"
    r"|\bplease (?:don't|do not|never) (?!worry\b|mind\b|hesitate\b|bother\b|apologi[sz]e\b|laugh\b|ask\b)[a-z]+",
    re.IGNORECASE,
)
_ZH_TASK = re.compile(
    "任务|项目|需求|订单|预算|会议|截止|进度|部署|上线|bug|报错|修复|方案|合同|发票|退款|客户|预订|航班|酒店|行程|计划|待办|提醒|报告|代码|测试",
    re.IGNORECASE,
)
_EN_TASK = re.compile(
    r"\b(?:task|project|requirement|order|budget|meeting|deadline|deploy|release|bug|error|fix|contract|invoice|refund"
    r"|customer|client|booking|book|flight|hotel|itinerary|plan|todo|remind|reminder|report|code|test"
    r"|ticket|schedule)s?\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile("如果|假如|要是|万一|\\bif\\b", re.IGNORECASE)


def turn_signals(text: str, *, name_count: int = 0, fact_count: int = 0) -> TurnSignals:
    """Return the signals of one turn; names and facts are counted by the caller. Never raises."""
    folded = fold_width_in_place(text)
    zh = has_han(folded)
    question = is_question(folded)
    return TurnSignals(
        length=_length(folded),
        small_talk=is_small_talk(folded),
        acknowledgement=is_acknowledgement(folded),
        number_count=len(_NUMBER.findall(folded)),
        name_count=name_count,
        preference_count=_count(_EN_PREFERENCE, folded) + (_count(_ZH_PREFERENCE, folded) if zh else 0),
        fact_count=fact_count,
        explicit_remember=asks_to_remember(folded),
        # "Did we decide?" and "if we must" settle nothing.
        decision=not question and _holds(folded, zh, _ZH_DECISION, _EN_DECISION),
        constraint=not question and _holds(folded, zh, _ZH_CONSTRAINT, _EN_CONSTRAINT),
        task_keyword=bool(_EN_TASK.search(folded) or (zh and _ZH_TASK.search(folded))),
    )


def asks_to_remember(text: str) -> bool:
    """Whether the speaker asks that something be kept; asking whether one remembers is not that."""
    if _EN_REMEMBER.search(text) and not _EN_ASKS_MEMORY.search(text):
        return True
    return bool(_ZH_REMEMBER.search(text)) and not _ZH_ASKS_MEMORY.search(text)


_ZH_QUESTION = re.compile(
    "[吗呢么]\\s*[?？。!！~]*$|[?？]\\s*$|什么|怎么|为什么|多少|哪[里儿个天些]|几[点号]|谁|是不是|有没有|能不能|会不会|要不要"
)
_EN_QUESTION = re.compile(
    r"\?\s*$|^(?:what|when|where|who|whom|whose|why|how|which|is|are|was|were|am|do|does|did|have|has|had"
    r"|can|could|will"
    r"|would|should|may|might|shall)\b",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Whether a turn as a whole asks: it ends with a question mark or opens with a question word."""
    stripped = text.strip()
    if stripped.endswith(("?", "？")):
        return True
    if has_han(stripped):
        return _ZH_QUESTION.search(stripped) is not None
    return _EN_QUESTION.search(stripped) is not None


def _holds(text: str, zh: bool, zh_pattern: re.Pattern[str], en_pattern: re.Pattern[str]) -> bool:
    if _HYPOTHETICAL.search(text):
        return False
    return bool(en_pattern.search(text) or (zh and zh_pattern.search(text)))


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))


def _length(text: str) -> int:
    return len(_WHITE_SPACE.sub("", text)) + (len(_HAN.findall(text)) if has_han(text) else 0)
