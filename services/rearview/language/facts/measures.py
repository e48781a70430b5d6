"""Numbers of the speaker that are said without the name of what they measure."""

from rearview.domain.fact import Stance
from rearview.language.facts.amounts import MONEY, NUMBER
from rearview.language.facts.statement import EN_SELF, FOR_TOPIC, ZH_SELF, FactRule, en, zh

_EN_NUMBER = r"(?P<number>[0-9]{1,3}(?:\.[0-9]{1,2})?)"
_ABOUT = "(?:(?:about|around|roughly|approximately|like|only|just|over|almost|just under|just over) )*"
_EACH = (
    "(?: ?(?:/|a|per|each|an) ?(?:month|year|yr|mo|annum|hour|week)| annually| monthly| yearly)?"
    "(?: (?:before|after) tax(?:es)?| gross| net| base| plus .*| right now)?"
)

RULES: tuple[FactRule, ...] = (
    zh("age", f"{ZH_SELF}(?:今年)?(?:已经|刚满?)?{NUMBER}\\s?岁"),
    zh(
        "age",
        "我(?:今年)?(?:都|已经|刚)?(?:满)?(?P<number>[二三四五六七八九]?十[一二三四五六七八九]?"
        "|[0-9]{2})(?:周?岁)?(?<=岁)",
    ),
    zh(
        "age", "我(?:今年|刚满|今年刚满|今年都|今年已经)(?P<number>[二三四五六七八九]?十[一二三四五六七八九]?|[0-9]{2})"
    ),
    zh("height", f"{ZH_SELF}(?P<number>1[0-9]{{2}})(?:厘米|公分|cm)高?"),
    zh("height", "我(?:的)?(?:净|裸)(?:身)?高(?:是|有)?(?P<number>1[0-9]{2})(?:厘米|公分|cm)?"),
    zh(
        "weight",
        f"{ZH_SELF}(?:体重?)?(?:终于|已经|刚刚?|又|最近|现在)*(?:降到|瘦到|胖到|涨到|减到"
        f"|长到)了?{NUMBER}\\s?(?P<unit>kg|公斤|千克|斤)",
        stance=Stance.CHANGE,
    ),
    zh("weight", f"{ZH_SELF}(?:体)?重{NUMBER}\\s?(?P<unit>kg|公斤|千克|斤)"),
    en(
        "age",
        rf"{EN_SELF} {_EN_NUMBER}(?:(?:-| )years?(?:-| )old| ?y/?o)?",
    ),
    en("age", rf"{EN_SELF} an? {_EN_NUMBER}[- ]years?[- ]old(?: (?:man|woman|guy|male|female|[a-z]+))?"),
    # "28F from Toronto"; the capital or a word after it tells it from a temperature.
    en("age", rf"{EN_SELF} (?P<number>[1-9][0-9])[mf](?: (?:from|in|living in|based in) (?P<hometown>.{{2,30}}))?"),
    en(
        "age",
        rf"i(?:'ve| have)? (?:just |recently |finally )?turned {_EN_NUMBER}(?: (?:today|yesterday|last .*|this .*"
        rf"|in .*|on .*))?",
        stance=Stance.CHANGE,
    ),
    zh(
        "height",
        "我(?:的)?(?:净|裸)?(?:身高|个子|个头)(?:是|有|大概|大约"
        "|差不多)*(?P<metres>[一二两12])米(?P<hundredths>[0-9零一二三四五六七八九十]{1,3})",
    ),
    zh("height", "我(?P<metres>[一二12])米(?P<hundredths>[0-9零一二三四五六七八九十]{1,3})"),
    en(
        "height",
        rf"{EN_SELF} (?P<feet>[3-7]) ?(?:feet|foot|ft|')(?:,? ?(?P<inches>1[01]|[0-9])(?: ?(?:inches|in|\""
        rf"|''))?)?(?: tall)?",
    ),
    en("height", rf"{EN_SELF} {_EN_NUMBER}\s?(?P<unit>cm|centimet(?:er|re)s|m|met(?:er|re)s)(?: tall)?"),
    en("weight", rf"i weigh (?:about |around )?{_EN_NUMBER}\s?(?P<unit>kg|kilos|kilograms|lbs?|pounds)"),
    zh(
        "shoe_size",
        f"{ZH_SELF}(?:平时|一般)?(?:穿|的?脚是|的?鞋子?(?:穿|是))(?P<number>[0-9]{{2}}(?:\\.5)?)(?:码"
        f"|号)(?:的?(?:鞋子?)?)?",
    ),
    zh("shoe_size", "我(?:的)?(?:鞋子?|脚)(?:是|穿)?(?P<number>[34][0-9](?:\\.5)?)(?:码|号)?的?"),
    en("shoe_size", rf"i wear (?:an? )?(?:size )?{_EN_NUMBER}(?: in)? shoes?"),
    en(
        "shoe_size",
        rf"(?:{EN_SELF} an?|i wear an?|i take an?) (?:us |uk |eu )?(?:size )?{_EN_NUMBER} (?:in (?:shoes|sneakers"
        rf"|trainers|boots)|shoe)",
    ),
    zh("salary", f"{ZH_SELF}(?:每?个?月|一个月|一年|每年)(?:能|可以)?(?:挣|赚|能挣|能赚){MONEY}"),
    en("salary", rf"i (?:make|earn|take home) {_ABOUT}{MONEY}{_EACH}"),
    en(
        "salary",
        rf"i(?:'m| am) (?:making|earning|paid|getting paid|on(?= [$£€]| [0-9.,]+k)) {_ABOUT}{MONEY}{_EACH}(?<!old)",
    ),
    en(
        "rent",
        rf"(?:i|we)(?:'m| am|'re| are)? (?:pay|paying) {_ABOUT}{MONEY} (?:(?:a|per|each|every) month )?(?:in|for"
        rf"|on) rent(?: (?:a|per|each|every) month)?",
    ),
    zh("rent", f"(?:{ZH_SELF})?(?:每个?月|一个月)(?:的)?(?:房租|租金)(?:要|得|就要|大概)*(?:交|付|花)?{MONEY}"),
    en("budget", rf"(?:i|we) (?:now )?have a (?:(?P<topic>[a-z]+) )?budget of (?:around |about |roughly )?{MONEY}"),
    en(
        "budget",
        rf"(?:i|we) (?:now )?have a budget of (?:around |about |roughly )?{MONEY} {FOR_TOPIC}",
    ),
    zh("budget", f"我(?:们)?(?:大概|大约|只|总共|一共)*有{MONEY}(?:左右)?的(?:总)?预算"),
    en(
        "budget",
        rf"(?:i|we)(?:'m| am|'re| are)? (?:can|could|willing to|prepared to|looking to|hoping to|happy to"
        rf"|planning to)(?: only)? (?:spend|pay)"
        rf" (?:(?:up to|at most|around|about|roughly|somewhere around|no more than|max) )+{MONEY}(?: (?:max|tops"
        rf"|total|in total))?(?: {FOR_TOPIC})?",
    ),
    en(
        "budget",
        rf"(?:i|we) (?:(?:really|absolutely) )?(?:can't|cannot|don't want to|won't|do not want to|can not"
        rf"|shouldn't) (?:spend|go|pay)(?: any)? (?:more than|over|above|past|beyond) {MONEY}(?: {FOR_TOPIC})?",
    ),
    zh("budget", f"(?:我们?)?(?:最多|顶多)(?:只)?(?:能|愿意|打算|可以)*(?:花|出|接受){MONEY}"),
    zh(
        "budget",
        f"(?:我们?)?(?:打算|准备|计划|想)(?:最多)?花{MONEY}(?:左右|以内)?(?:来)?(?:买|换|装修"
        f"|租)(?P<topic>[^，。]{{1,8}}?)",
    ),
    en("budget", rf"(?:i|we)(?:'ve| have)(?: only| just)?(?: got)? {_ABOUT}{MONEY} to spend(?: {FOR_TOPIC})?"),
)
