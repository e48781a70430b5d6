"""The same clause in plainer words: without fillers, with numbers in digits, one thing at a time.

Rules know a clause by its bare words. What people put between them ("I honestly just", "我这个人") says nothing that a
fact keeps, so a clause that no rule knows is read once more without it. Values are given back as they were typed.
"""

import re
from dataclasses import replace

from rearview.domain.fact import FactCandidate
from rearview.language.facts.number_words import in_digits
from rearview.language.scripts import HAN, has_han

_BETWEEN_SCRIPTS = re.compile(rf"(?<=[{HAN}]) +(?=[A-Za-z0-9])|(?<=[A-Za-z0-9]) +(?=[{HAN}])")
_ZH_MYSELF = re.compile("^我(?:这个?人|个人|本人|自己|呢|嘛|啊|呀)+[,，]?(?=.)")
# What stands before the subject says when or where: "坐飞机我一般选靠窗", "平时没事我就喜欢看书".
_ZH_BEFORE_ME = re.compile(
    "^(?:平时|平常|没事|周末|早上|晚上|中午|睡前|下班后?|有空|闲下来|闲|一般|说实话|老实说|讲真|讲真的|其实|反正"
    "|总的来说|总之|这几年|这两年"
    "|最近|现在|目前|从小|坐飞机|坐火车|坐车|出差|出门|出去玩|旅游|旅行|吃饭|点外卖|喝茶|喝咖啡|在家里?|在外面|工作上"
    "|生活中|生活上"
    "|的时候|的话题上|时|就|啊|呢|嘛|吧|，)+(?=我)"
)
# What is said of the speaker and somebody else is said of the speaker.
_ZH_WITH_OTHERS = re.compile("^我(?:和|跟|与)[^，。我]{1,6}?(?:都|俩都?|两个人?都?)(?=.)")
_EN_WITH_OTHERS = re.compile(
    r"^(?:my [a-zé]+(?: (?-i:[A-Z])[a-z]+)? and (?:i|me)|me and my [a-zé]+)(?P<are> are|'re)?(?: both| also)?(?= )",
    re.IGNORECASE,
)
_ZH_FILLERS = re.compile(
    "(?<=我)(?:(?:真的|确实|其实|个人|现在|目前|(?:最近|一般|通常|平时|平常)(?!(?:在.{1,6})?[做搞干])|向来|素来|主要|基本上?|大概|差不多|可以说"
    "|应该算|算|有点|有些|也就|反正|毕竟|本来就"
    "|already|totally|really|actually|just|kinda))+(?!.{0,2}(?:不是|没))(?=.)"
)
_EN_ADVERBS = (
    "honestly|actually|personally|currently|recently|finally|just|kinda|kind of|sort of|definitely|basically|literally"
    "|genuinely|still|also|totally|absolutely|seriously|sadly|unfortunately|luckily|proudly|officially|lately|happily"
    "|newly|super|pretty much|very|quite|already|really|so|now|obviously|frankly|truly|strictly|mainly|presently|only"
)
_EN_FILLERS = re.compile(
    rf"(?<![a-z'])(?P<i>(?:i|we)(?:'m|'ve|'re| am| have| are| do)?)(?: (?:{_EN_ADVERBS}))+(?= [a-z])", re.IGNORECASE
)
_EN_BEFORE_I = re.compile(
    r"^(?:(?:not going to lie|i'm not going to lie|no lie|hot take|unpopular opinion|i guess|i think|i suppose"
    r"|i must say|i have to (?:say|admit)|i'd say|i admit|truth is|thing is"
    r"|the thing is"
    r"|in general|generally|usually|at home|at work|these days|nowadays|lately|currently|right now|personally|sadly"
    r"|unfortunately|luckily|obviously|basically|frankly|apparently|as for me|for me|see|look|listen|yo|man|dude|guys"
    r"|good news|fun fact|small update|update),? )+(?=(?:i|we|my)\b)",
    re.IGNORECASE,
)
_OWNING = (
    r"(?:i|we)(?:'ve| have)?(?: just| recently| also)?(?: (?:got|own|have|bought|drive|ride|keep|adopted|picked up))?"
)
_EN_BOTH = re.compile(
    rf"(?P<head>{_OWNING}) (?P<first>(?:an?|one|two|three|four) [^,]{{2,50}}?),? (?:and|n|&|plus)(?: also)? "
    r"(?P<second>(?:an?|one|two|three|four) [^,]{2,60})$",
    re.IGNORECASE,
)
_ZH_MANY = "[一两二三四五六七八九几0-9]{1,2}[只条辆台个把部匹套]"
_ZH_BOTH = re.compile(
    f"(?P<head>我们?家?里?(?:有|养了?))(?P<first>{_ZH_MANY}[^，。和、还]{{1,12}}?)(?:和|、|还有|跟|以及|外加)"
    f"(?P<second>{_ZH_MANY}[^，。]{{1,16}})$"
)


def reworded(clause: str) -> str:
    """Return a clause without blanks between the scripts, without fillers and with numbers in digits."""
    if has_han(clause):
        tight = _BETWEEN_SCRIPTS.sub("", clause)
        return _ZH_FILLERS.sub("", _ZH_MYSELF.sub("我", _ZH_WITH_OTHERS.sub("我", _ZH_BEFORE_ME.sub("", tight))))
    return in_digits(_EN_FILLERS.sub(_bare, _EN_WITH_OTHERS.sub(_we, _EN_BEFORE_I.sub("", clause))))


def one_by_one(clause: str) -> list[str]:
    """Return "I have a car and a cat" as two clauses; other clauses as they are."""
    match = _ZH_BOTH.match(clause) if has_han(clause) else _EN_BOTH.match(clause)
    if match is None:
        return [clause]
    blank = "" if has_han(clause) else " "
    return [f"{match['head']}{blank}{match[part]}" for part in ("first", "second")]


def as_typed(fact: FactCandidate, clause: str) -> FactCandidate:
    """Return a fact that was read without blanks between the scripts with those that its value was typed with."""
    if not fact.value or fact.value in clause or not has_han(clause):
        return fact
    typed = re.search(r"\s*".join(map(re.escape, fact.value.replace(" ", ""))), clause)
    if typed is None:
        return fact
    same_key = fact.value_key == fact.value.lower()
    return replace(fact, value=typed.group(), value_key=typed.group().lower() if same_key else fact.value_key)


def _we(match: re.Match[str]) -> str:
    return "we are" if match["are"] else "I"


def _bare(match: re.Match[str]) -> str:
    return match["i"]
