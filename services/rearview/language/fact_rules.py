"""Patterns of clear first-person statements. Each is matched at the start of a clause and must reach its end."""

import re
from dataclasses import dataclass

_NAME_EN = r"(?-i:[A-Z][a-z]+(?:[ -][A-Z][a-z]+){0,2})"
_AMOUNT = (
    r"(?P<sign>[$€£¥￥])?\s?(?P<amount>[0-9][0-9,]*(?:\.[0-9]+)?)\s?(?P<scale>万|千|k|thousand"
    r"|million)?\s?(?P<currency>元|块钱?|人民币|美元|美金|欧元|英镑|日元|港币|dollars?|usd|yuan|rmb|cny"
    r"|euros?|eur|pounds?|gbp)?"
)
_ZH_TAIL = "(?:左右|上下|以内|吧|了|啦|哦|呢|的|啊)*"
_EN_TAIL = r"(?: (?:or so|now|total|in total|at most|max|for (?:the|this|my) [a-z ]{1,30}))?"

_ZH_ME = "(?:我们?|咱们?)"
_ZH_SELF = "我(?:自己|本人)?(?:现在|目前|今年|已经|刚刚?|最近|其实|一直|从小)*(?:就|也|还)?"
_EN_SELF = r"i(?:'m| am)(?: (?:currently|now|actually|also|originally))?"
_ZH_TOPIC = "(?P<topic>旅行|旅游|装修|购车|买车|买房|手机|电脑|婚礼|项目|营销|每月|月|年度|团建|出差)?"
_EN_TOPIC = (
    r"(?:(?P<topic>travel|trip|vacation|wedding|renovation|project|marketing|monthly|annual|car|phone"
    r"|laptop|holiday) )?"
)

_ZH_CARRIERS = "(?P<value>(?:中国)?(?:移动|联通|电信|广电))"
_EN_CARRIERS = (
    r"(?P<value>China Mobile|China Unicom|China Telecom|Verizon|AT&T|T-Mobile|Vodafone|Sprint|Orange"
    r"|Airtel|Jio|Telstra|Rogers)"
)

_ZH_JOB = (
    "(?P<value>[^，。我你他她它的在]{0,10}(?:工程师|程序员|老师|教师|医生|律师|设计师|学生|研究生|博士生"
    "|护士|会计|经理|作家|记者|厨师|司机|教授|研究员|画家|摄影师|公务员|翻译|分析师|架构师|咨询师|顾问"
    "|运营|销售|飞行员|警察|军人|消防员|编辑|导演|演员|歌手|教练|导游|店长))"
)
_EN_JOB = (
    r"(?P<value>(?:[a-z-]+ ){0,3}(?:engineer|teacher|doctor|nurse|lawyer|designer|developer|programmer"
    r"|student|accountant|manager|writer|journalist|chef|driver|professor|researcher|artist|photographer"
    r"|scientist|analyst|consultant|architect|musician|pilot|dentist|electrician|plumber|firefighter"
    r"|librarian|translator|editor|therapist|veterinarian|mechanic|barista|freelancer|entrepreneur"
    r"|pharmacist|carpenter|farmer|counselor|counsellor))"
)
_ZH_PETS = (
    "(?P<value>[^，。我你他她]{0,6}(?:猫咪?|狗狗?|柯基|金毛|哈士奇|泰迪|边牧|布偶|英短|橘猫|兔子|仓鼠"
    "|鹦鹉|乌龟|金鱼|鱼))"
)
_EN_PETS = (
    r"(?P<value>(?:[a-z]+ ){0,2}(?:dog|cat|puppy|kitten|parrot|rabbit|hamster|turtle|tortoise|goldfish"
    r"|fish|bird|guinea pig|horse|snake|lizard|corgi|poodle|labrador|golden retriever)s?)"
)
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_EN_DATE = (
    rf"(?:(?P<month_name>{_MONTHS}) (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?:the )?(?P<day2>[0-9]{{1,2}})(?:st|nd|rd"
    rf"|th)?(?: of)? (?P<month_name2>{_MONTHS}))(?:,? (?P<year>[12][0-9]{{3}}))?"
)
_ZH_DATE = "(?:(?P<year>[12][0-9]{3})年)?(?P<month>[0-9]{1,2})月(?P<day>[0-9]{1,2})[日号]?"
_ISO_DATE = "(?P<iso>[12][0-9]{3}-[01][0-9]-[0-3][0-9])"

_ZH_DEGREE = "(?:很|非常|特别|最|也|还|超|超级|真的|真|一直|比较|挺|蛮|都|就|从小就?|其实)*"
_EN_DEGREE = (
    r"(?:(?:really|absolutely|also|just|do|always|still|truly|particularly|especially|generally|usually|totally) )*"
)
_ZH_THING = "(?P<list>(?!你|您|他|她|它|这|那|什么|谁|哪|上了|过|的|得|自己)[^，。]{1,24}?)"
_EN_THING = (
    r"(?P<list>(?!it\b|that\b|this\b|these\b|those\b|you\b|your\b|him\b|her\b|his\b|them\b|their\b|how\b"
    r"|what\b|when\b|where\b|why\b"
    r"|who\b|the way\b|the idea\b|the fact\b|to (?:be|have|know|say|think|see|ask|do)\b|being\b|one\b"
    r"|both\b|some\b|any\b|and\b|or\b|if\b)"
    r"[a-z0-9][a-z0-9' -]{1,60}?)"
)
_EN_THING_TAIL = (
    r"(?: (?:a lot|very much|so much|too|the most|at all|as well|because .*|since .*|when .*|after .*"
    r"|but .*|over .*|more than .*"
    r"|rather than .*|instead of .*|(?<=prefer )to .*))?"
)


@dataclass(frozen=True, slots=True)
class FactRule:
    """A pattern for one attribute; `denied` where the words deny it."""

    attribute: str
    pattern: re.Pattern[str]
    denied: bool = False


def _zh(attribute: str, pattern: str, *, denied: bool = False) -> FactRule:
    return FactRule(attribute, re.compile(pattern + _ZH_TAIL + r"\s*$", re.IGNORECASE), denied)


def _en(attribute: str, pattern: str, *, denied: bool = False) -> FactRule:
    return FactRule(attribute, re.compile(pattern + r"\s*$", re.IGNORECASE), denied)


RULES: tuple[FactRule, ...] = (
    _zh(
        "name",
        f"(?:{_ZH_SELF}叫|我的(?:名字|姓名)(?:是|叫)|我名字(?:是|叫)|(?:以后|可以|请)?(?:就)?叫我)(?!什么|做"
        f"|他|她|你|了)"
        f"(?P<value>[\u4e00-\u9fff·]{{2,5}}?|{_NAME_EN})(?:就行|就好|就可以|吧)?",
    ),
    _en(
        "name",
        rf"(?:my (?:full |first )?name is|my name's|i(?:'m| am) called|(?:please |you can |just )?call me) "
        rf"(?P<value>{_NAME_EN})",
    ),
    _zh(
        "budget",
        f"(?:{_ZH_ME}(?:现在|目前|这次)?的?)?(?:这次)?{_ZH_TOPIC}(?:总)?预算(?:大概|大约|差不多|现在|目前|已经"
        f"|一共|总共|就|只)*(?:上限)?"
        f"(?:是|为|有|在|改成|改为|改到|调整为|调整到|调到|提高到|提到|降到|降低到|增加到|变成|变为|控制在|[:：])?了?(?:大概|大约|差不多)?{_AMOUNT}",
    ),
    _en(
        "budget",
        rf"(?:(?:my|our|the) )?(?:new |total )?{_EN_TOPIC}budget (?:is|'s|is now|has been (?:raised"
        rf"|increased|cut|reduced|changed) to|(?:has )?(?:changed|increased|gone up|dropped|gone down) to"
        rf"|is set at|of)(?: now)?(?: around| about| roughly| only)? {_AMOUNT}{_EN_TAIL}",
    ),
    _en("budget", rf"(?:i|we) (?:now )?have a {_EN_TOPIC}budget of (?:around |about |roughly )?{_AMOUNT}{_EN_TAIL}"),
    _zh(
        "carrier",
        f"{_ZH_SELF}的?(?:手机|电话)?(?:号|卡)?(?:的?运营商)?(?:现在)?(?:用的?是?|是|换成|换到|转到|换了)了?{_ZH_CARRIERS}(?:的?(?:手机)?[号卡])?",
    ),
    _zh("carrier", f"{_ZH_SELF}(?:把)?(?:手机)?(?:运营商)(?:换成|换到|转到)了?{_ZH_CARRIERS}"),
    _en(
        "carrier",
        rf"(?:my (?:phone |mobile |cell )?(?:carrier|provider|operator) is(?: now)?|i(?: now)? use|i(?:'ve"
        rf"| have)?(?: just)? (?:switched|moved) to|i(?:'m| am)(?: now)? (?:with|on)) {_EN_CARRIERS}(?: now"
        rf"| as my (?:phone |mobile )?carrier)?",
    ),
    _zh(
        "residence",
        f"(?:{_ZH_SELF}(?:住在|搬到了?|搬去了?|搬家到了?|定居在?|家住在?|家在)|我的?(?:家庭)?(?:地址"
        f"|住址)(?:是|改成|改为|换成|[:：]))"
        f"(?P<value>(?!哪|那|这|一|我|你|他|她|了|酒店|宾馆|医院|里)[^，。]{{2,40}}?)",
    ),
    _en(
        "residence",
        r"(?:i(?: now| currently)? live (?:in|at|on)|i(?:'ve| have)?(?: just| recently)? moved to|i(?:'m"
        r"| am)(?: currently| now)? (?:based|living) in|i reside in|my (?:new |home )?address is"
        r"(?: now)?) (?P<value>(?:the )?(?-i:[A-Z0-9])[A-Za-z0-9.,#' -]{1,60}?|[\u4e00-\u9fff]{2,20})(?: "
        r"(?:now|with .*|for .*|since .*|because .*|and .*|last .*|these days))?",
    ),
    _zh("job", f"{_ZH_SELF}是(?:一?[名个位])?{_ZH_JOB}"),
    _zh("job", f"我的?(?:工作|职业)是(?:一?[名个位])?{_ZH_JOB}"),
    _en(
        "job",
        rf"(?:{_EN_SELF} an?|i work as an?|my job is (?:being )?an?|i became an?) {_EN_JOB}(?: (?:at|for|in|by) .*)?",
    ),
    _zh("employer", f"{_ZH_SELF}在(?P<value>(?!家|公司|这|那|外|哪)[^，。我你他她]{{2,16}}?)(?:工作|上班|任职|就职)"),
    _en(
        "employer",
        r"i(?: now| currently)? work (?:at|for) (?P<value>(?-i:[A-Z])[A-Za-z0-9&.' -]{1,40}?)(?: (?:as|in"
        r"|now|since|on) .*| now)?",
    ),
    _zh("birthday", f"我的?(?:生日|出生日期)(?:是|在|[:：])?(?:{_ZH_DATE}|{_ISO_DATE})"),
    _zh("birthday", f"我(?:是|出生于|生于|出生在)?{_ZH_DATE}(?:出生|生的?|生日)"),
    _en(
        "birthday",
        rf"(?:my birthday(?: is|'s)(?: on)?|my birthday falls on|my date of birth is|i was born on) "
        rf"(?:{_EN_DATE}|{_ISO_DATE})",
    ),
    _zh(
        "favourite",
        "我最(?:喜欢|爱)的(?P<topic>[^，。是]{1,8})(?:一直|就)?是(?P<value>(?!什么|谁|哪|你|他|她)[^，。]{1,20}?)",
    ),
    _en(
        "favourite",
        r"my (?:all-time |all time )?favou?rite (?P<topic>[a-z]+(?: [a-z]+)?) (?:is|are|has always been) "
        r"(?P<value>(?!when\b|because\b|that\b|to\b|how\b|what\b|you\b)[a-z0-9][a-z0-9' -]{1,40}?)(?: "
        r"(?:because|since|by) .*)?",
    ),
    _zh("likes", f"我{_ZH_DEGREE}(?:喜欢|热爱|偏爱|喜爱|钟爱|爱(?=[吃喝看听玩用]))(?!的){_ZH_THING}"),
    _zh(
        "likes",
        f"我{_ZH_DEGREE}(?:不太?喜欢|不怎么喜欢|不爱(?=[吃喝看听玩用])|讨厌|受不了|反感|不能?(?=[吃喝](?!了|下|完|到))){_ZH_THING}",
        denied=True,
    ),
    _en("likes", rf"i {_EN_DEGREE}(?:like|love|enjoy|adore|prefer)(?: to)? {_EN_THING}{_EN_THING_TAIL}"),
    _en("likes", rf"{_EN_SELF} (?:a (?:big |huge )?fan of|into|fond of|keen on) {_EN_THING}{_EN_THING_TAIL}"),
    _en(
        "likes",
        rf"i {_EN_DEGREE}(?:hate|dislike|detest|can't stand|cannot stand|don't (?:really )?(?:like|enjoy)"
        rf"|do not (?:like|enjoy))(?: to)? {_EN_THING}{_EN_THING_TAIL}",
        denied=True,
    ),
    _zh("allergy", f"{_ZH_SELF}对(?P<list>[^，。不]{{1,20}}?)(?:都|有点|有些|严重|特别|也)*过敏"),
    _zh("allergy", f"{_ZH_SELF}对(?P<list>[^，。不]{{1,20}}?)(?:并)?不(?:会)?过敏", denied=True),
    _en(
        "allergy",
        rf"{_EN_SELF} (?:(?:severely|highly|very|badly|mildly|deathly) )?allergic to (?P<list>[a-z][a-z ,']{{1,50}}?)",
    ),
    _en("allergy", rf"(?:{_EN_SELF} not|i'm not) allergic to (?P<list>[a-z][a-z ,']{{1,50}}?)", denied=True),
    _en("allergy", r"i have an? (?:severe |bad |mild )?(?P<list>[a-z]+(?: [a-z]+)?) allergy"),
    _zh(
        "pet",
        f"我家?(?:里)?(?:养了?|有)(?:[一两二三四五几0-9]+)?[只条个匹]{_ZH_PETS}(?:[,，]?(?:名字)?叫(?P<called>[^，。的]{{1,8}}?))?",
    ),
    _en(
        "pet",
        rf"i(?:'ve| have)? (?:have |got |own |adopted )?(?:an?|one|two|three|four|five|[0-9]) {_EN_PETS}"
        rf"(?: (?:named|called) (?P<called>{_NAME_EN}(?: and {_NAME_EN})?))?",
    ),
    _en("pet", rf"my {_EN_PETS}(?:'s name is| is (?:named|called)) (?P<called>{_NAME_EN})"),
    _zh(
        "visited", "我(?:已经|以前|曾经|之前)?去过(?!哪|那|这|一|很|不少)(?P<list>[^，。]{2,24}?)(?:旅游|旅行|玩|出差)?"
    ),
    _en(
        "visited",
        r"i(?:'ve| have) (?:already )?(?:been to|visited) (?P<list>(?:the )?"
        r"(?-i:[A-Z])[A-Za-z ,'-]{1,60}?)(?: (?:before|yesterday|today|recently|this .*|twice|once"
        r"|many times|with .*|last .*|in .*))?",
    ),
    _zh("speaks", f"{_ZH_SELF}会(?:说|讲)(?:流利的|一点|一些|一口流利的)?(?P<list>[^，。]{{2,20}}?)"),
    _en(
        "speaks",
        r"i (?:can )?speak (?:fluent |some |a little |a bit of )?(?P<list>(?-i:[A-Z])[a-z]+(?:(?:, | and "
        r"|, and )(?-i:[A-Z])[a-z]+){0,4})(?: fluently| at home)?",
    ),
)
