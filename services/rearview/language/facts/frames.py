"""Clauses that bound what their neighbours tell: when it was, in whose eyes it is, and that it is over.

"五年前，我是会计" tells what was, "大家都以为，我是医生" and "In the game, I'm a doctor" what is not, and
"我是会计，上个月刚辞职" what is no more.
"""

import re
from collections.abc import Sequence

from rearview.domain.fact import FactCandidate, Stance

_FICTION = "(?:游戏|剧本杀?|故事|小说|设定|人设|梦|剧情|戏|电影)"
_UNLIKE_NOW = re.compile(
    "[^，。我]{0,10}(?:以前|之前|从前|那会儿?|那阵子?|那时候?|那[一几两]?年|年前|前几年|早年|早些年|当初|当时|起初|最初|最早|最开始"
    "|一开始|原先|(?:疫情|婚|产)前)(?:呢|啊|吧|嘛)?$"
    r"|(?:back then|in those days|years ago|before (?:that|covid|the pandemic))$"
    f"|[^，。我]{{0,8}}(?:以为|假装|装作|谎称|对外)$|[在按照][^，。我]{{0,8}}{_FICTION}[里中上]?$|[^，。我]{{0,8}}{_FICTION}[里中]$"
    r"|in (?:the|this|that|my|our) (?:[a-z-]+ )?(?:game|story|novel|role-?play|scenario|dream|play|movie|campaign)$",
    re.IGNORECASE,
)
_NOW = re.compile(
    "[^，。我]{0,10}(?:以前|之前|从前|那会儿?|那阵子?|那时候?|那[一几两]?年|年前|前几年|早年|早些年|当初|当时|起初|最初|最早|最开始|一开始"
    "|原先|(?:疫情|婚|产)前)(?:呢|啊|吧|嘛)?$"
    r"|(?:back then|in those days|years ago|before (?:that|covid|the pandemic))$"
    "|[^，。我]{0,8}(?:以为|假装|装作|谎称|对外)$|(?:在)?[^，。我]{0,8}(?:游戏|剧本|剧本杀|故事|小说|设定|人设|梦|剧情|戏|电影)[里中上]?$"
    r"|in (?:the|this|that|my|our) (?:[a-z-]+ )?(?:game|story|novel|role-?play|scenario|dream|play|movie|campaign)$",
    re.IGNORECASE,
)
_NOW = re.compile(r"现在|如今|目前|后来|至今|\b(?:now|today|currently|these days)\b", re.IGNORECASE)
_LATELY = (
    "(?:现在|已经|已|刚刚?|今年|去年|前年|上个?[月周]|昨天|前[天阵]|最近|年初|年底|前阵子|后来|[0-9一二三四五六七八九十]+月份?"
    "|又|就|都|早就?)*"
)
_OVER = re.compile(
    f"(?:不过|但是?|可是?|只是|结果|其实)?我?{_LATELY}"
    "(?:(?:(?:从[^，。]{2,10})?(?:离职|辞职|裸辞|退休|失业|下岗|转行|改行)|被裁员?|被优化|(?:不|没再?)[干做](?=了))[了啦]*$"
    "|(?:转行|改行)(?:去?做|当|成)了?[^，。]{2,10}$)"
    r"|(?:but |though |and )?(?:i(?:'ve| have| am|'m)? )?(?:(?:just|recently|already|have|got|been|was|since) )*"
    r"(?:retired|quit|resigned|laid off|let go|fired|between jobs|unemployed)"
    r"(?: (?:(?:last|this|in|a|two|three|back|yesterday|recently|now)\b.*))?$",
    re.IGNORECASE,
)
_PASSES = frozenset(("job", "employer", "residence", "marital_status", "age", "carrier"))
"""What was so once need not be so now; who was born somewhere still was."""
_WORK = frozenset(("job", "employer"))


def frames(clause: str) -> bool:
    """Whether a clause sets the next ones into another time, or into what only seems so."""
    return _UNLIKE_NOW.match(clause) is not None


def leaves_frame(clause: str) -> bool:
    """Whether a clause speaks of now again."""
    return _NOW.search(clause) is not None


def outlasting(facts: Sequence[FactCandidate]) -> list[FactCandidate]:
    """Return of facts within a frame those that hold outside it."""
    return [fact for fact in facts if fact.stance is not Stance.STANDING or fact.attribute not in _PASSES]


def over(clause: str) -> bool:
    """Whether a clause says that the work told before it is over."""
    return _OVER.match(clause) is not None


def without_work(facts: Sequence[FactCandidate]) -> list[FactCandidate]:
    """Return facts without the speaker's work that they affirm."""
    return [
        fact for fact in facts if not (fact.about_user and fact.stance is Stance.STANDING and fact.attribute in _WORK)
    ]
