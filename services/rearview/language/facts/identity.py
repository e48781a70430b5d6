"""Who the speaker is: name, home, family status, languages, places; what they do is in `work`."""

import re

from rearview.domain.fact import Stance
from rearview.language.facts.amounts import NUMBER
from rearview.language.facts.statement import EN_SELF, NAME_EN, ZH_PERSON, ZH_SELF, ZH_SELF_NOW, FactRule, en, zh
from rearview.language.facts.values import place_names, words_of_category
from rearview.language.facts.word_lists import any_of
from rearview.language.facts.work import RULES as WORK
from rearview.language.scripts import has_han

_ZH_PLACE = (
    "(?P<value>(?!哪|那|这|一|我|你|他|她|了|酒店|宾馆|医院|公司|单位|学校|宿舍|里|楼[上下]|顶楼"
    "|[二三四五六七八九十0-9]+[楼层])[^，。从]{2,40}?)"
)
_ZH_FORMER_PLACE = f"(?!家|老家|自己家|父母|爸|妈|娘家|婆家|原来|原先|以前|旧|宿舍|公司|学校|来|去){_ZH_PLACE}"
_ZH_PLACES = "|".join((any_of("regions_zh"), *(re.escape(name) for name in place_names() if has_han(name))))
_ZH_KNOWN_PLACE = f"(?P<value>{_ZH_PLACES})"
_ZH_REGION = f"(?:{_ZH_PLACES}|[\u4e00-\u9fff]{{2,4}}[省市县镇村])"
_EN_SMALL_PLACE = rf"(?-i:(?P<value>(?:{'|'.join(re.escape(name) for name in place_names() if name.isascii())})))"
_EN_PLACE = (
    r"(?P<value>(?!(?:mon|tues|wednes|thurs|fri|satur|sun)day|q[1-4]\b|(?:january|february|march|april|may"
    r"|june|july|august|september|october|november|december)\b)(?:the )?(?-i:[A-Z0-9])[A-Za-z0-9.,#' -]{1,60}?"
    r"|[\u4e00-\u9fff]{2,20})"
)
_EN_TOWN_IN = "(?:an? (?:tiny |small |little )?(?:town|village|city|suburb|farm|place) (?:in|near|outside|of) )?"
_EN_PLACE_TAIL = (
    r"(?: (?:now|home|all my life|my (?:whole|entire) life|with .*|for .*|since .*|because .*|and .*|last .*|recently"
    r"|these days|(?:an?|one"
    r"|two|three|four|five"
    r"|six|a few|a couple of|several|[0-9]{1,2}) (?:day|week|month|year)s? ago|this .*|to .*|after .*|but .*|when .*"
    r"|where .*|as .*"
    r"|back in .*|(?:early|late|earlier) .*|in (?:the |early |late )?(?:spring|summer|fall|autumn|winter|january"
    r"|february|march|april|may|june|july|august|september|october|november|december|[0-9]{4})))?"
)
_EN_LANGUAGES = (
    r"(?P<list>(?-i:[A-Z])[a-z]+(?:(?:, | and |, and )(?:fluent |some |a little |a bit of |a little bit of )?"
    r"(?-i:[A-Z])[a-z]+){0,4})"
)
_ZH_LANGUAGES = "|".join(word for word in words_of_category("language") if has_han(word))
_NATIONALITIES = any_of("nationalities_en")

_NAMES = (
    zh(
        "name",
        f"(?:(?:你)?(?:以后|可以|请)?(?:就)?叫我)(?!什么|做|他|她|你|了|一声|来|去|起)"
        f"(?P<value>[\u4e00-\u9fff·]{{2,5}}?|{NAME_EN})(?:就行|就好|就可以|吧)?",
    ),
    zh(
        "name",
        f"(?:平时|一般|平常)?(?:大家|朋友们?|同事们?|家里人?|身边人?|别人)(?:一般|平时|平常|都|也|习惯)*(?:叫|喊"
        f"|管)我(?!什么|叫什么|做"
        f"|去|来|起)(?:叫)?(?P<value>{ZH_PERSON}|{NAME_EN})",
    ),
    en(
        "name",
        rf"my name (?:isn't|is not) (?P<value>{NAME_EN})",
        denied=True,
        stance=Stance.NEGATION,
    ),
    zh(
        "name",
        f"我(?:现在|已经|刚刚?)*(?:改名(?:叫|为|成)|现在叫)(?P<value>[\u4e00-\u9fff·]{{2,5}}?|{NAME_EN})",
        stance=Stance.CHANGE,
    ),
    zh(
        "name",
        f"(?:{ZH_SELF}叫|我的(?:名字|姓名)(?:是|叫)|我名字(?:是|叫))(?!什么|做|他|她|你|了|来|车|外卖)"
        f"(?P<value>[\u4e00-\u9fff·]{{2,5}}?|{NAME_EN})",
    ),
    en(
        "name",
        rf"(?:(?:my (?:full |first |real )?)?name(?: is|'s)|i(?:'m| am) called|(?:please |you can |just )*call me) "
        rf"(?P<value>{NAME_EN})(?:, not .*| by the way| here)?",
    ),
    en(
        "name",
        r"(?:please|you can|just|pls) call me (?P<value>(?!later\b|back\b|when\b|if\b|tomorrow\b|today\b|tonight\b"
        r"|soon\b|now\b|again\b|any"
        r"|asap\b|first\b|instead\b|directly\b|at\b|on\b|by\b|a\b|the\b|crazy\b|maybe\b|before\b|after\b"
        r"|in\b)[a-z]{2,12})$",
    ),
    en(
        "name",
        rf"(?:i (?:mostly |usually |also )?go by|(?:everyone|everybody|people|friends|my friends|my family|most people"
        rf"|they all) calls? me) {NAME_EN.replace('(?-i:', '(?P<value>(?-i:', 1)})",
    ),
    zh(
        "name",
        f"我(?:的)?(?:本名|真名|英文名|中文名|全名)(?:是|叫)(?P<value>[\u4e00-\u9fff·]{{2,5}}?|{NAME_EN})",
    ),
    en("name", rf"(?:i'm|i am|this is) (?P<value>(?!Brazil){NAME_EN})(?<!ing)(?<!ed)(?<!ian)(?<!ese)(?<!ish)"),
)

_HOMES = (
    zh(
        "residence",
        f"(?:{ZH_SELF}定居在?|{ZH_SELF_NOW}(?:住在|住(?=[\u4e00-\u9fff]{{2,6}}$)(?!宿舍|酒店|宾馆|民宿|医院|校|在|的|进|过|不|得|下|院"
        f"|家里|回|到|来|满|惯|[一二三四五六七八九十几两])|家住在?|(?:现在|目前)?人在|坐标(?![0-9])(?:是|在)?"
        f"|(?:现在)?base(?![a-z])\\s?(?:在|是)?|(?:现在)?常驻|现居|居住在|租住在)|我们?家住在?|我们?家(?:现在)?在"
        f"|我的?(?:家庭)?(?:地址|住址)(?:是|[:：])){_ZH_PLACE}",
    ),
    # "我在上海" alone may be about a journey.
    zh(
        "residence",
        f"{ZH_SELF}(?:[^，。]{{0,4}}(?:毕业|结婚|退休)(?:以后|之后|后))?(?:就)?(?:一直|长期|常年)+(?:都)?(?:在"
        f"|住){_ZH_KNOWN_PLACE}(?:生活)?",
    ),
    zh("residence", f"{ZH_SELF}(?:在|住){_ZH_KNOWN_PLACE}(?:定居|生活|常住|\\s?based)"),
    zh("residence", f"{ZH_SELF}从(?P<replaced>[^，。搬]{{2,16}})搬(?:到|去|家到)了?{_ZH_PLACE}", stance=Stance.CHANGE),
    zh(
        "residence",
        f"(?:{ZH_SELF}|我们家?(?:刚|最近|已经)*)(?:搬到了?|搬去了?|搬家到了?|搬来了?){_ZH_PLACE}",
        stance=Stance.CHANGE,
    ),
    zh(
        "residence",
        f"(?:{ZH_SELF}|我们家?)(?:又|还是|已经|刚刚?|最近|重新|再次?|上个?月|上周|去年|今年)*(?:"
        f"(?:从[^，。搬回]{{2,12}})?搬回(?:到|去|来)?了?{_ZH_FORMER_PLACE}(?:去|来)?(?:了)?(?:住|定居|生活"
        f"|居住)?(?:去|来)?"
        f"|住回(?:到|了)*{_ZH_FORMER_PLACE.replace('value', 'value2')})",
        stance=Stance.CHANGE,
    ),
    zh(
        "residence",
        f"(?:{ZH_SELF}|我们家?)(?:又|还是|已经|刚刚?|最近|重新|再次?|上个?月|上周|去年|今年)*(?:回到?"
        f"|返回)了?{_ZH_FORMER_PLACE}(?:去|来)?(?:住|定居|生活|居住)",
        stance=Stance.CHANGE,
    ),
    zh(
        "residence",
        f"{ZH_SELF}(?:已经)?不(?:再)?住在?{_ZH_PLACE}",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "residence",
        r"(?:(?:i|we)(?: now| currently| still)? live(?: alone| together"
        r"| with my [a-z ]{3,20}?)?(?: in an? [a-z -]{3,25}?)?"
        r" (?:in|at|on)|i(?:'m| am)(?: currently| now| actually)? (?:based"
        r"|living|located|residing) (?:in|out of)|i reside in|my home is in|i call(?=.* home$)"
        r"|i(?:'ve| have) (?:been living|lived|been based) in(?=.* (?:since|for|all|my) )"
        rf"|my (?:new |home )?address is(?: now)?) {_EN_PLACE}{_EN_PLACE_TAIL}",
    ),
    en(
        "residence",
        r"(?:(?:i|we)(?: now| currently| still)? live in|(?:i'm|i am|im)(?: currently| now)? (?:based|living) in) "
        rf"{_EN_SMALL_PLACE}{_EN_PLACE_TAIL}",
    ),
    en(
        "residence",
        rf"(?:i|we)(?:'ve| have)?(?: just| recently| finally)? (?:moved"
        rf"|relocated) to {_EN_SMALL_PLACE}{_EN_PLACE_TAIL}",
        stance=Stance.CHANGE,
    ),
    en(
        "residence",
        rf"i (?:no longer live|don't live|do not live) in {_EN_SMALL_PLACE}(?: anymore| any more)?",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "residence",
        rf"(?:i|we)(?:'ve| have)?(?: just"
        rf"| recently)? moved from (?P<replaced>[A-Z][A-Za-z .'-]{{1,30}}?) to {_EN_PLACE}"
        rf"{_EN_PLACE_TAIL}",
        stance=Stance.CHANGE,
    ),
    en(
        "residence",
        rf"(?:i|we)(?:'ve| have)?(?: just| recently)? (?:moved|relocated) to {_EN_PLACE}{_EN_PLACE_TAIL}",
        stance=Stance.CHANGE,
    ),
    en(
        "residence",
        r"(?:(?:i|we)(?:'ve| have)?(?: just| recently| now| finally)? (?:moved|relocated|gone) back(?: home)? (?:to|in)"
        r"|(?:i'm|i am|we're|we are)(?: now)? (?:back living|living back|living again) in) "
        rf"{_EN_PLACE}{_EN_PLACE_TAIL}(?: again)?",
        stance=Stance.CHANGE,
    ),
    en(
        "residence",
        rf"i (?:no longer live|don't live|do not live) in {_EN_PLACE}(?: anymore| any more)?",
        denied=True,
        stance=Stance.NEGATION,
    ),
    zh(
        "residence",
        f"{ZH_SELF}(?:[^，。]{{0,4}}(?:毕业|结婚|退休)(?:以后|之后|后))?(?:就|一直|便)*(?:留在了?|落户在?|扎根在?"
        f"|在(?=[^，。]{{2,8}}(?:安家|落户|扎根|定居)))"
        f"{_ZH_FORMER_PLACE}(?:安家|落户|扎根|定居|生活|发展)?",
    ),
    zh("hometown", "我(?:的)?(?:老家|家乡|籍贯)(?:就|其实)?(?:是|在)(?:的)?(?P<value>[^，。哪]{2,12}?)的?"),
    zh("hometown", f"我(?:的)?(?:老家|家乡)(?P<value>{_ZH_REGION})的?"),
    zh("hometown", f"我(?:是|从小)?(?:在)?(?P<value>{_ZH_REGION})(?:土生土长的?|长大的?)"),
    zh("hometown", "我是(?P<value>(?![一个某这那坏好男女老本别成大的])[\u4e00-\u9fff]{2,5}?)人"),
    zh("hometown", f"我是(?:一?个)?(?:地道的?|土生土长的?|地地道道的?|典型的?)(?P<value>{_ZH_REGION})人"),
    zh("hometown", "我来自(?P<value>[^，。哪]{2,12}?)"),
    en("hometown", rf"i(?:'m| am) (?:originally )?from {_EN_TOWN_IN}{_EN_PLACE}(?: originally)?"),
    en(
        "hometown",
        rf"i (?:grew up|was raised|(?:was )?born and raised)(?: in [0-9]{{4}})? in "
        rf"(?![0-9]){_EN_TOWN_IN}{_EN_PLACE}",
    ),
    en("hometown", rf"i(?: originally)? come from {_EN_TOWN_IN}{_EN_PLACE}(?: originally)?"),
    en("hometown", rf"i(?:'m| am) (?:originally )?from {_EN_SMALL_PLACE}(?: originally)?"),
    en("nationality", rf"i(?:'m| am) (?:half |originally |actually )?(?P<value>{_NATIONALITIES})(?: by birth)?"),
)

_BIRTHDAYS = (
    zh(
        "birthday",
        "我(?:是)?(?P<value>(?:(?:[12][0-9]{3}|[0-9]{2})年)?[0-9]{1,2}月[0-9]{1,2}[日号]?)(?:的?生日|出生|生的?)的?",
    ),
    zh("birthday", "我(?:是)?(?:出生于|生于|出生在)(?P<value>(?:[12][0-9]{3}年)[0-9]{1,2}月[0-9]{1,2}[日号]?)"),
    en("birthday", "i was born on (?P<value>.{3,30})"),
    en("birthday", "my birthday falls on (?P<value>.{3,30})"),
)

_CARRIERS = (
    zh(
        "carrier",
        f"{ZH_SELF}的?(?:手机|电话)?(?:号|卡)?(?:的?运营商)?(?:现在)?(?:用的?是?|办的是?"
        f"|是)(?P<value>(?:中国)?(?:移动|联通|电信|广电)|Verizon|AT&T|T-Mobile|Vodafone|giffgaff|Telstra|Optus"
        f"|Singtel|Mint Mobile)"
        "(?:的?(?:手机|电话)?[号卡]?)?的?",
    ),
    en(
        "carrier",
        r"(?:i(?: now)? use|i(?:'m| am)(?: now)? (?:with|on)) (?P<value>China Mobile|China Unicom|China Telecom"
        r"|Verizon|AT&T"
        r"|T-Mobile|Vodafone|Sprint|Orange|Airtel|Jio|Telstra|Rogers)(?: now| as my (?:phone |mobile )?carrier)?",
    ),
)

_FAMILY_STATUS = (
    zh("marital_status", f"{ZH_SELF}结婚了", stance=Stance.CHANGE, fixed="已婚"),
    zh("marital_status", f"{ZH_SELF}离婚了", stance=Stance.CHANGE, fixed="离婚"),
    zh("marital_status", f"{ZH_SELF}(?:和|跟)[^，。]{{1,6}}(?:领证|结婚)了", stance=Stance.CHANGE, fixed="已婚"),
    zh("marital_status", f"{ZH_SELF}(?:还)?是?(?P<value>单身|未婚|已婚|离异)(?:状态|人士|狗)?的?"),
    zh("marital_status", f"{ZH_SELF}(?:还)?没(?:有)?(?P<value>结婚)", denied=True, stance=Stance.NEGATION),
    en(
        "marital_status",
        rf"{EN_SELF}(?: not| no longer) (?P<value>single|married|divorced|engaged)",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "marital_status",
        rf"{EN_SELF} (?:happily |recently |newly |still |very much )*(?P<value>single|married|divorced|engaged"
        rf"|widowed)(?: (?:to|with) .*)?",
    ),
    en("marital_status", r"i(?:'ve| have) been (?P<value>single|married|divorced|engaged)(?: (?:to|with) .*)?"),
    en(
        "marital_status",
        r"(?:i|we|my (?:partner|girlfriend|boyfriend|fiancée?) and i)(?:'ve| have)? (?:just |recently "
        r"|finally )?(?:got|gotten) (?P<value>married|divorced|engaged)(?: (?:last|this|in|on|to) .*)?",
        stance=Stance.CHANGE,
    ),
    zh("children", f"{ZH_SELF}(?:们)?(?:家)?有?{NUMBER}个(?:孩子|小孩|娃|宝宝)"),
    zh("children", f"(?:我们?)?家里?有{NUMBER}个(?:孩子|小孩|娃|宝宝)(?!的)[^，。]*"),
    en(
        "children",
        r"(?:i|we)(?:'ve got| have|'ve)(?: only)? (?P<count>one|two|three|four|five|six|[1-9]) (?:[a-z]+ )?(?:kids?"
        r"|child(?:ren)?)(?: .*)?",
    ),
    en(
        "children",
        rf"(?:{EN_SELF} an? )?(?:single |proud |working )*(?:mom|mum|dad|mother|father|parent) (?:of"
        rf"|to) (?P<count>one|two|three|four|five|six|[1-9])(?: kids| children)?(?: here)?",
    ),
    zh("children", "我是(?:一个)?(?P<number>[一二两三四])(?:个)?(?:孩子|娃|宝)的?(?:妈|爸)妈?爸?"),
)

_LANGUAGES_AND_PLACES = (
    en("timezone", r"i(?:'m| am) (?:in|on) (?:the )?(?P<value>[a-z]+(?: [a-z]+)?) (?:time ?zone|time)"),
    zh("timezone", "我(?:这边|这里|人)?在(?P<value>东[一二三四五六七八九十]+区|西[一二三四五六七八九十]+区)"),
    en("native_language", r"(?P<value>(?-i:[A-Z])[a-z]+) is my (?:first|native|home) language"),
    en("native_language", r"(?P<value>(?-i:[A-Z])[a-z]+) is my mother tongue"),
    zh("native_language", "我(?:的)?母语是(?P<value>[^，。什]{2,8}?)"),
    zh(
        "speaks",
        f"{ZH_SELF}(?:平时|在家)?(?:会(?:说|讲)?|讲|说)(?:流利的|一点|一些"
        f"|一口流利的)?(?P<list>(?:(?:一点|一些|流利的)?(?:{_ZH_LANGUAGES})[、和跟与]?){{1,5}})(?:都会|都行)?",
    ),
    zh(
        "speaks",
        f"我?(?P<list>(?:(?:{_ZH_LANGUAGES})[、和跟]?){{1,4}})我?(?:都|也)(?:会|能说|会说|会讲)(?:一点|一些|说)?",
    ),
    en(
        "speaks",
        rf"(?:i (?:can |also |mostly |grew up )?(?:speak|speaking)|i(?:'m| am) (?:fluent|bilingual|native"
        rf"|conversational) in)"
        rf" (?:fluent |some |a little |a bit of |both |decent |basic )?{_EN_LANGUAGES}(?: fluently| at home| natively"
        rf"| too)?",
    ),
    zh(
        "visited",
        "我(?:已经|以前|曾经|之前)*去过(?:[一两二三四五好几0-9]+[次回趟])?(?!哪|那|这|一|很"
        "|不少)(?P<list>[^，。]{2,24}?)(?:旅游|旅行|玩|出差)?",
    ),
    en(
        "visited",
        r"i(?:'ve| have) (?:already )?(?:been to|visited) (?P<list>(?:the )?"
        r"(?-i:[A-Z])[A-Za-z ,'-]{1,60}?)(?: (?:before|yesterday|today|recently|this .*|twice|once|(?:[a-z]+"
        r"|[0-9]+) times|but .*|yet|already"
        r"|many times|with .*|last .*|in .*))?",
    ),
)

# After work and home: "我是程序员" is no name, though 程 is a surname.
_NAMES_WITHOUT_A_VERB = (zh("name", f"我是(?P<value>{ZH_PERSON})(?<![员师生工人家者手迷粉控])"),)

RULES: tuple[FactRule, ...] = (
    *_NAMES,
    *_HOMES,
    *WORK,
    *_BIRTHDAYS,
    *_CARRIERS,
    *_FAMILY_STATUS,
    *_LANGUAGES_AND_PLACES,
    *_NAMES_WITHOUT_A_VERB,
)
