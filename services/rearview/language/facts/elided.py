"""Clauses that leave out who they are about, as chats do: "刚买了辆车", "big fan of jazz", "..., 住在杭州"."""

import re

from rearview.domain.fact import USER
from rearview.language.facts.statement import NAME_EN, ZH_PERSON
from rearview.language.facts.values import relation_words
from rearview.language.facts.word_lists import any_of
from rearview.language.scripts import has_han

_AFTER_A_SUBJECT_ZH = re.compile(
    "(?:现在|目前|如今|一直|平时|平常|每天|也|还|又|都|已经|早就|就|刚刚?|去年|最近|长期|特别|非常|超级?|很|从小就?"
    "|最|更|挺|蛮|比较|其实)*"
    "(?:住在?|来自|毕业于|在[^，。]{2,16}(?:工作|上班|当|做|担任|读|上学|念书|带|教)|是一?[名个位]|不(?:再)?养"
    "|是(?=[做搞干])|(?:在|(?<=每天)|(?<=长期))(?:吃|服用)"
    "|(?:不太?|不怎么|不大)?(?:喜欢|爱[吃喝看听玩])|讨厌|受不了|不(?:[吃喝碰]|爱|喜欢)|(?:岗位|职位|职务|职业)是"
    "|转行|转岗|升职|(?:搬到|搬去|跳槽到|入职)"
    "|[^，。]{0,4}(?:毕业|结婚|退休)(?:以后|之后|后)(?:就|一直)*(?:留在|落户|在)|留在|今年[0-9一二三四五六七八九十]"
    "|(?:专业|major|手机|电脑|平板|相机|车|耳机|手表|键盘)\\s?是|[^，。]{1,10}(?:什么的|之类的)[^，。]*不"
    "|[0-9一二三四五六七八九十]{1,3}岁|对[^，。]{1,12}过敏|养了?[一两]|只养(?=[^，。]{1,4}$)|只[喝吃用坐看听]|现居"
    "|base(?![a-z])\\s?|坐标|叫[^，。]{2,4}$|(?:做|从事"
    "|干)[^，。]{2,12}的?$|会说"
    "|[^，。我他她]{1,8}人$|有(?:轻度|重度|点|些|严重的?)?(?:[^，。]{1,6}(?:炎|症|过敏)|"
    f"{any_of('conditions_zh')})|吃素|单身"
    "|已婚|离异"
    "|(?:大学|本科|硕士)?(?:学的?是|读的?是|主修)|(?:有|养了?)[一两二三](?:只|条|个)|体?重|身?高"
    "|[学读](?![生校费期者])[^，。]{2,10}的$|(?:鞋子?|脚)(?:穿|是)?[34][0-9]|清真的?$)",
    re.IGNORECASE,
)
_COUNTRYMAN_ZH = re.compile(f"(?:{any_of('regions_zh')}|北京|上海|天津|重庆|广州|深圳|香港)人$")
_AFTER_A_SUBJECT_EN = re.compile(
    r"(?:and )?(?:(?:also|now|currently|mostly|really|just|never|always|usually|totally|absolutely) )*"
    r"(?:live in|live|work(?:ing)? (?:as|at|for|in)|study(?:ing)? at|study|am an?|speak|love|hate|prefer|enjoy|own"
    r"|drive|(?:can't|cannot) (?:stand|bear|eat|do|handle|drink|have)|(?:don't|do not) (?:eat|drink|like|own|have)"
    r"|weigh|major(?:ing)? in|grew up in|take|allergic to|based in|living in|have (?:an?|two|three)|earn|wear"
    r"|keep (?=kosher|halal)"
    r"|(?:not )?(?:really )?into|teach)\s",
    re.IGNORECASE,
)
_ELIDED = re.compile(r"(?:can't|cannot) (?:stand|bear)\s", re.IGNORECASE)
_STATE_EN = re.compile(
    r"(?:(?:happily|newly|recently|not) )?(?:married|single|divorced|engaged|vegan|vegetarian|pescatarian)"
    r"|(?P<children>(?:one|two|three|four|five|six|[1-6]|no) (?:kids?|children))$",
    re.IGNORECASE,
)
_WEIGHT_ZH = re.compile("(?:大概|大约|差不多)?[0-9一二三四五六七八九十百两]{2,5}(?:斤|公斤|kg)$", re.IGNORECASE)
_WEIGHT_EN = re.compile(r"(?:about |around )?[0-9]{2,3} ?(?:lbs?|pounds|kg|kilos)$", re.IGNORECASE)
_AGE_EN = re.compile(r"[1-9][0-9](?: years old)?$")
_RECENTLY_ZH = "(?:最近|刚刚?|去年|前年|今年|上个?月|上周末?|昨天|前天|前两天|这两天|这阵子|前阵子|年初|终于|又|才)"
# Nobody was named before: only what people say of themselves without "我".
_OPENS_ZH = re.compile(
    f"(?:{_RECENTLY_ZH}+(?:新)?(?:买了|提了|入了|入手了?|换了|养了|领养了|收养了|迷上|爱上|沉迷|喜欢上|开始喜欢|搬到"
    f"|搬去|搬来|跳槽到|入职|加入|戒了"
    "|查出|确诊|开始吃|在吃|在喝|在服用|卖了|卖掉|把)"
    "|(?:从小就?|一直|平时|平常|其实|真的|比较|更|挺|蛮|特别|非常|超级?|最|不太|不怎么|不大|不是很|就)+"
    "(?:喜欢|不喜欢|爱[吃喝看听玩]|怕吃|讨厌|受不了|能吃辣)"
    "|(?:不喜欢|讨厌|受不了|吃不惯|喝不惯|吃不了|喝不了)(?!的人)"
    "|喜欢(?!的|就|上|你|他|她|它|这|那|什么|谁|一个人)"
    "|对[^，。]{1,10}?(?:都|也|有点|严重|特别|会)*过敏"
    "|(?:从来|从|一直|一般|平时|平常|基本)*(?:都)?(?:不|只)(?:吃|喝|碰)(?!了|的|完|下|到|饱|饭|药|是|要|能)"
    "|(?:体检)?查出来?(?:有|了)|确诊(?:了|为)?|住在(?!一起)|坐标(?![0-9])"
    "|base(?![a-z])\\s?(?:在)?"
    "|家里(?:有|养了?)[一两二三几0-9]?(?:只|条|匹)|养了[一两二三几0-9]?(?:只|条|匹)"
    "|有(?:轻度|重度|点|些|严重的?)?(?:高血压|糖尿病|哮喘|鼻炎|胃炎|痛风|偏头痛|乳糖不耐)"
    ")",
    re.IGNORECASE,
)
_OPENS_EN = re.compile(
    r"(?:(?:just|recently|finally|also|really|totally|absolutely|still|currently|honestly|always|never) )*"
    r"(?:(?P<have>been to (?=[A-Z]))|(?P<did>(?:moved|relocated) to|(?:bought|adopted|picked up|got) (?:an?"
    r"|myself an?|two)\b|got (?:diagnosed"
    r"|married"
    r"|engaged|divorced|promoted|laid off|fired)\b|sold my|got rid of my|gave away my|traded in my|gave up|joined"
    r"|quit (?:my job|drinking|smoking)"
    r"|switched (?:to|from)|turned [0-9]|graduated from|live in|work (?:at|for|as|in)|love|hate|own an?"
    r"|prefer(?! (?:(?:the|an?|not)\b|mon|tue|wed|thu|fri|sat|sun|[0-9]|morning|afternoon|evening|early|late))"
    r"|(?:can't|cannot) (?:stand|bear|eat|do|handle|drink)|(?:don't|do not) (?:eat|drink|like)|(?<=never )(?:eat|drink)"
    r"|grew up in|weigh|born and raised in)"
    r"|(?P<am>(?:a )?(?:big|huge|massive|lifelong) fan of|not (?:really |exactly |much of )?(?:a )?(?:big |huge )?"
    r"(?:fan of|into|a (?=[a-z]+ (?:person|drinker|eater|fan)\b))|allergic to|originally from|based (?:in|out of)"
    r"|living in"
    r"|working (?:as|at|for)|obsessed with|lactose intolerant|gluten intolerant|more of an?|(?:a )?(?:vegan|vegetarian"
    r"|pescatarian)(?= (?:here|since|for)|$)))(?![a-z])",
    re.IGNORECASE,
)
_WHERE = re.compile("住在|人在|坐标|base|live in|work (?:at|for|in)|living in|working (?:at|for)", re.IGNORECASE)
_BARE_ROLE_EN = re.compile(
    r"(?P<role>(?:[a-z-]+ ){0,3}[a-z-]+?) (?:here|by trade|by profession)$"
    rf"|(?P<job>(?:[a-z-]+ ){{0,3}}(?:{any_of('occupations_en')})) (?:at|@) "
    r"|(?P<allergy>(?:mild |severe |bad )?(?:[a-z]+ )?[a-z]+ allergy) here$"
    r"|(?P<student>(?:phd |grad |college |graduate )?(?:student|freshman|sophomore|junior|senior)) (?:at|@) ",
    re.IGNORECASE,
)
_NO_ROLE_EN = re.compile(
    r"(?:nobody|nothing|anything|everything|i'm|is|are|was|it|new|no|not|right|out|over|in)\b", re.I
)
_ROLE_ZH = re.compile("(?P<role>[^，。我你他她的]{2,10}?)一[枚名]$")
_OTHERS = re.compile(
    f"[你您他她它谁男女孩娃]|老人|长辈|送给|送人|给[^我，。]{{1,6}}(?:买|选|挑|订|送|做)|(?:^"
    f"|[，。,.!！]\\s*)(?:{ZH_PERSON}|(?!I\\b){NAME_EN} )|[客病家]人|亲戚|团队|学生"
    "|宝|的人|大家|同事|朋友|客户"
    r"|\b(?:you|he|she|they|we|his|her|their|people|someone|everyone|who|guests?|visitors?|team|group|family|students?|class"
    r"|crew|clients?|customers?|patients?|folks|guys|girls?|boys?|man|woman|men|women)\b"
)

_CREATURES = re.compile(f"猫|狗|兔|鸟|宝宝|{'|'.join(map(re.escape, relation_words()))}", re.IGNORECASE)


def with_subject(clause: str) -> str | None:
    """Return in the first person a clause that goes on about somebody; None where it does not leave a subject out."""
    if _COUNTRYMAN_ZH.match(clause):
        return "我是" + clause
    if _AFTER_A_SUBJECT_ZH.match(clause):
        return "我" + clause
    if _AFTER_A_SUBJECT_EN.match(clause):
        return "I'm " + clause if re.match(_PARTICIPLE, clause, re.I) else "I " + clause
    return None


def with_measure(clause: str, last: str) -> str | None:
    """Return with its subject a clause that is a number or a state and no more; `last` is the attribute told before it.

    A height is followed by a weight ("我一米八，一百四十斤"), a name by an age ("I'm Sofia, 29").
    """
    if last in ("height", "age", "weight") and _WEIGHT_ZH.match(clause):
        return "我体重" + clause
    if last in ("height", "age", "weight") and _WEIGHT_EN.match(clause):
        return "I weigh " + clause
    if last and (state := _STATE_EN.match(clause)):
        return ("I have " if state["children"] else "I'm ") + clause
    return "I'm " + clause if last == "name" and _AGE_EN.match(clause) else None


def goes_on(about: str, clause: str) -> bool:
    """Whether a clause goes on about the speaker in English, though it may begin like a question."""
    return about == USER and _AFTER_A_SUBJECT_EN.match(clause) is not None


def opening_on_oneself(clause: str, *, first: bool) -> str | None:
    """Return in the first person a clause that names nobody; None for others.

    It speaks of the speaker where nobody else is named before it in the turn (`names_others`). Where one lives or works
    is believed of the `first` clause of a turn only: "四月去京都，住在岚山" tells of a journey.
    """
    if not first and _WHERE.match(clause):
        return None
    if has_han(clause) and "还是" not in clause and _OPENS_ZH.match(clause):
        return None if _OTHERS.search(clause) else "我" + clause
    if role := _ROLE_ZH.match(clause):
        return f"我是{role['role']}"
    if match := _OPENS_EN.match(clause):
        return ("I'm " if match["am"] else "I've " if match["have"] else "I ") + clause.removesuffix(" here")
    if (bare := _BARE_ROLE_EN.match(clause)) and _NO_ROLE_EN.match(clause) is None:
        return f"I have a {bare['allergy']}" if bare["allergy"] else f"I'm a {bare['role'] or clause}"
    return None


def leaves_out_i(clause: str) -> bool:
    """Whether a clause leaves "I" out wherever it stands: "..., can't stand durian"."""
    return _ELIDED.match(clause) is not None


def names_others(text: str) -> bool:
    """Whether words name somebody, or an animal, whom a clause without a subject after them may be about."""
    return _OTHERS.search(text) is not None or _CREATURES.search(text) is not None


_PARTICIPLE = r"(?:and )?(?:[a-z]+ )?(?:working|studying|majoring|allergic|based|living|(?:not )?(?:really )?into)\b"
