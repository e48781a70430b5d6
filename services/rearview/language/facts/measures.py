"""Numbers of the speaker that are said without the name of what they measure."""

from rearview.domain.fact import Stance
from rearview.language.facts.amounts import MONEY, NUMBER
from rearview.language.facts.statement import EN_SELF, FOR_TOPIC, ZH_SELF, FactRule, en, zh

_EN_NUMBER = r"(?P<number>[0-9]{1,3}(?:\.[0-9]{1,2})?)"

RULES: tuple[FactRule, ...] = (
    zh("age", f"{ZH_SELF}(?:今年)?(?:已经|刚满?)?{NUMBER}\\s?岁"),
    zh("age", "我今年(?P<number>[二三四五六七八九]?十[一二三四五六七八九]?|[0-9]{2})"),
    zh("height", f"{ZH_SELF}(?P<number>1[0-9]{{2}})(?:厘米|公分|cm)高?"),
    zh("weight", f"{ZH_SELF}(?:体)?重{NUMBER}\\s?(?P<unit>kg|公斤|千克|斤)"),
    en("age", rf"{EN_SELF} {_EN_NUMBER}(?:(?:-| )years?(?:-| )old)?"),
    en(
        "age",
        rf"i (?:just |recently )?turned {_EN_NUMBER}(?: (?:today|yesterday|last .*|this .*))?",
        stance=Stance.CHANGE,
    ),
    zh(
        "height",
        "我(?:的)?(?:身高|个子)(?:是|有|大概|大约)*(?P<metres>[一二两12])米(?P<hundredths>[0-9零一二三四五六七八九十]{1,3})",
    ),
    zh("height", "我(?P<metres>[一二12])米(?P<hundredths>[0-9零一二三四五六七八九十]{1,3})"),
    en(
        "height",
        rf"{EN_SELF} (?P<feet>[3-7]) ?(?:feet|foot|ft|')(?:,? ?(?P<inches>1[01]|[0-9])(?: ?(?:inches|in|\""
        rf"|''))?)?(?: tall)?",
    ),
    en("height", rf"{EN_SELF} {_EN_NUMBER}\s?(?P<unit>cm|centimet(?:er|re)s|m|met(?:er|re)s)(?: tall)?"),
    en("weight", rf"i weigh (?:about |around )?{_EN_NUMBER}\s?(?P<unit>kg|kilos|kilograms|lbs?|pounds)"),
    zh("shoe_size", f"{ZH_SELF}(?:穿|的脚是)(?P<number>[0-9]{{2}}(?:\\.5)?)(?:码|号)(?:的?(?:鞋子?))?"),
    en("shoe_size", rf"i wear (?:a )?(?:size )?{_EN_NUMBER} shoes?"),
    zh("salary", f"{ZH_SELF}(?:每?个?月|一个月|一年|每年)(?:能|可以)?(?:挣|赚|能挣|能赚){MONEY}"),
    en("salary", rf"i (?:make|earn) (?:about |around )?{MONEY}(?: (?:a|per|each) (?:month|year)| annually| monthly)?"),
    en("rent", rf"i pay (?:about |around )?{MONEY} (?:in|for) rent(?: (?:a|per|each|every) month)?"),
    en("budget", rf"(?:i|we) (?:now )?have a (?:(?P<topic>[a-z]+) )?budget of (?:around |about |roughly )?{MONEY}"),
    en(
        "budget",
        rf"(?:i|we) (?:now )?have a budget of (?:around |about |roughly )?{MONEY} {FOR_TOPIC}",
    ),
    zh("budget", f"我(?:们)?(?:大概|大约|只|总共|一共)*有{MONEY}(?:左右)?的(?:总)?预算"),
    en(
        "budget",
        rf"(?:i|we) (?:can|could|'m willing to|am willing to)(?: only)? spend (?:up to|at most|around|about"
        rf"|no more than) {MONEY}(?: {FOR_TOPIC})?",
    ),
    en("budget", rf"(?:i|we) have (?:about |around |only )?{MONEY} to spend(?: {FOR_TOPIC})?"),
    en("budget", rf"i(?:'ve| have) (?:only )?got {MONEY} to spend(?: {FOR_TOPIC})?"),
)
