"""Who the speaker is: name, home, work, studies, family status, languages, places."""

from rearview.domain.fact import Stance
from rearview.language.facts.amounts import NUMBER
from rearview.language.facts.statement import EN_SELF, NAME_EN, ZH_PERSON, ZH_SELF, FactRule, en, zh

_ZH_PLACE = "(?P<value>(?!哪|那|这|一|我|你|他|她|了|酒店|宾馆|医院|里)[^，。从]{2,40}?)"
_ZH_FORMER_PLACE = f"(?!家|老家|自己家|父母|爸|妈|娘家|婆家|原来|原先|以前|旧|宿舍|公司|学校|来|去){_ZH_PLACE}"
_EN_PLACE = r"(?P<value>(?:the )?(?-i:[A-Z0-9])[A-Za-z0-9.,#' -]{1,60}?|[\u4e00-\u9fff]{2,20})"
_EN_PLACE_TAIL = (
    r"(?: (?:now|with .*|for .*|since .*|because .*|and .*|last .*|recently|these days|(?:an?|one|two|three|four|five"
    r"|six|a few|a couple of|several|[0-9]{1,2}) (?:day|week|month|year)s? ago|this .*"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november|december|[0-9]{4})))?"
)
_ZH_JOBS = (
    "工程师|程序员|老师|教师|医生|律师|设计师|学生|研究生|博士生|护士|会计|产品经理|项目经理|经理|作家|记者|厨师|司机"
    "|教授|研究员|画家|摄影师|公务员|翻译|分析师|架构师|咨询师|顾问|运营|销售|飞行员|警察|军人|消防员|编辑|导演|演员"
    "|歌手|教练|导游|店长|药剂师|建筑师|心理师|咖啡师|理发师"
)
_ZH_JOB = f"(?P<value>[^，。我你他她它的在名个位]{{0,10}}(?:{_ZH_JOBS}))"
_EN_JOB = (
    r"(?P<value>(?:[a-z-]+ ){0,3}(?:engineer|teacher|doctor|nurse|lawyer|designer|developer|programmer"
    r"|student|accountant|manager|writer|journalist|chef|cook|driver|professor|researcher|artist|photographer"
    r"|scientist|analyst|consultant|architect|musician|pilot|dentist|electrician|plumber|firefighter"
    r"|librarian|translator|editor|therapist|veterinarian|vet|mechanic|barista|freelancer|entrepreneur"
    r"|pharmacist|carpenter|farmer|practitioner|waiter|waitress|bartender|hairdresser|tailor|butcher|gardener|nanny"
    r"|coach|trainer|trader|banker|broker|intern|founder|producer|director|secretary|receptionist|counselor"
    r"|counsellor|surgeon|economist|baker|cashier|recruiter|paramedic))"
)
_EN_ORGANISATION = r"(?P<value>(?:the )?(?-i:[A-Z])[A-Za-z0-9&.' -]{1,40}?)"
_ZH_ORGANISATION = "(?P<value>(?!家|公司|这|那|外|哪|一家|一个)[^，。我你他她]{2,16}?)"
_EN_LANGUAGES = (
    r"(?P<list>(?-i:[A-Z])[a-z]+(?:(?:, | and |, and )(?:fluent |some |a little |a bit of |a little bit of )?"
    r"(?-i:[A-Z])[a-z]+){0,4})"
)
_NATIONALITIES = (
    "American|British|Canadian|Chinese|Japanese|Korean|French|German|Italian|Spanish|Brazilian|Indian|Australian"
    "|Mexican|Russian|Dutch|Swedish|Norwegian|Danish|Finnish|Polish|Portuguese|Irish|Scottish|Turkish|Greek"
    "|Egyptian|Nigerian|Kenyan|Argentinian|Chilean|Peruvian|Vietnamese|Thai|Indonesian|Malaysian|Singaporean|Filipino"
    "|Pakistani|Iranian|Israeli|Ukrainian|Austrian|Swiss|Belgian|Czech|Hungarian|Romanian"
)

_NAMES = (
    zh(
        "name",
        f"(?:(?:你)?(?:以后|可以|请)?(?:就)?叫我)(?!什么|做|他|她|你|了|一声|来|去|起)"
        f"(?P<value>[\u4e00-\u9fff·]{{2,5}}?|{NAME_EN})(?:就行|就好|就可以|吧)?",
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
        rf"(?:my (?:full |first )?name(?: is|'s)|i(?:'m| am) called|(?:please |you can |just )*call me) "
        rf"(?P<value>{NAME_EN})(?:, not .*)?",
    ),
    en(
        "name",
        rf"(?:i go by|(?:everyone|people|friends|my friends"
        rf"|they all) calls? me) {NAME_EN.replace('(?-i:', '(?P<value>(?-i:', 1)})",
    ),
    zh("name", f"我(?:的)?(?:本名|真名|英文名|中文名|全名)(?:是|叫)(?P<value>[\u4e00-\u9fff·]{{2,5}}?|{NAME_EN})"),
    en("name", rf"(?:i'm|i am|this is) (?P<value>(?!Brazil){NAME_EN})(?<!ing)(?<!ed)(?<!ian)(?<!ese)(?<!ish)"),
)

_HOMES = (
    zh(
        "residence",
        f"(?:{ZH_SELF}(?:住在|住(?=[\u4e00-\u9fff]{{2,6}}$)(?!宿舍|酒店|宾馆|民宿|医院|校|在|的|进|过|不|得|下|院|家里|回|到|来|满|惯|[一二三四五六七八九十几两])|定居在?|家住在?|人在|现居|居住在|租住在)|我们?家住在?|我们?家(?:现在)?在|我的?(?:家庭)?(?:地址|住址)(?:是|[:：])){_ZH_PLACE}",
    ),
    zh("residence", f"{ZH_SELF}从(?P<replaced>[^，。搬]{{2,16}})搬(?:到|去|家到)了?{_ZH_PLACE}", stance=Stance.CHANGE),
    zh(
        "residence",
        f"(?:{ZH_SELF}|我们家?(?:刚|最近|已经)*)(?:搬到了?|搬去了?|搬家到了?|搬来了?){_ZH_PLACE}",
        stance=Stance.CHANGE,
    ),
    zh(
        "residence",
        f"(?:{ZH_SELF}|我们家?)(?:又|还是|已经|刚刚?|最近|重新|再次?|上个?月|上周|去年|今年)*(?:"
        f"(?:从[^，。搬回]{{2,12}})?搬回(?:到|去|来)?了?{_ZH_FORMER_PLACE}(?:去|来)?(?:了)?(?:住|定居|生活|居住)?(?:去|来)?"
        f"|住回(?:到|了)*{_ZH_FORMER_PLACE.replace('value', 'value2')})",
        stance=Stance.CHANGE,
    ),
    zh(
        "residence",
        f"(?:{ZH_SELF}|我们家?)(?:又|还是|已经|刚刚?|最近|重新|再次?|上个?月|上周|去年|今年)*(?:回到?|返回)了?{_ZH_FORMER_PLACE}(?:去|来)?(?:住|定居|生活|居住)",
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
        r"(?:(?:i|we)(?: now| currently| still)? live (?:in|at|on)|i(?:'m| am)(?: currently| now)? (?:based"
        r"|living) in|i reside in|my home is in|i(?:'ve| have) (?:been living|lived) in(?=.* (?:since|for) )"
        rf"|my (?:new |home )?address is(?: now)?) {_EN_PLACE}{_EN_PLACE_TAIL}",
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
        f"{ZH_SELF}(?:[^，。]{{0,4}}(?:毕业|结婚|退休)(?:以后|之后|后))?(?:就|一直|便)*(?:留在了?|落户在?|扎根在?|在(?=[^，。]{{2,8}}(?:安家|落户|扎根|定居)))"
        f"{_ZH_FORMER_PLACE}(?:安家|落户|扎根|定居|生活|发展)?",
    ),
    zh("hometown", "我(?:的)?(?:老家|家乡)(?:是|在)(?:的)?(?P<value>[^，。哪]{2,12}?)的?"),
    zh("hometown", "我是(?P<value>(?![一个某这那坏好男女老本别成大的])[\u4e00-\u9fff]{2,5}?)人"),
    zh("hometown", "我来自(?P<value>[^，。哪]{2,12}?)"),
    en("hometown", rf"i(?:'m| am) (?:originally )?from {_EN_PLACE}(?: originally)?"),
    en("hometown", rf"i (?:grew up|was raised) in {_EN_PLACE}"),
    en("hometown", rf"i come from {_EN_PLACE}"),
    en("nationality", rf"i(?:'m| am) (?P<value>{_NATIONALITIES})"),
)

_WORK = (
    zh(
        "employer",
        f"{ZH_SELF}在(?!老家|国外|外地|外面|大学|学校|家){_ZH_ORGANISATION}"
        f"(?:做|当|担任){_ZH_JOB.replace('value', 'job')}(?:工作|的)?",
    ),
    zh("job", f"{ZH_SELF}是(?:在)?(?:一?[名个位]|一家[^，。的]{{1,8}}的)?{_ZH_JOB}"),
    zh("job", f"我的?(?:工作|职业)是(?:一?[名个位])?{_ZH_JOB}"),
    zh("job", f"{ZH_SELF}(?:是)?(?:在[^，。]{{2,12}}?)?(?:做|当|担任){_ZH_JOB}(?:工作|的)?"),
    zh("job", f"我(?:现在|已经)*(?:并)?不(?:再)?是(?:一?[名个位])?{_ZH_JOB}", denied=True, stance=Stance.NEGATION),
    en(
        "job",
        rf"(?:{EN_SELF} an?|i work as an?|i(?:'m| am) working as an?|my job is (?:being )?an?"
        rf"|i became an?) {_EN_JOB}(?: (?:at|for|in|by|from) .*)?",
    ),
    en("job", rf"(?:i'm|i am) (?:not|no longer) an? {_EN_JOB}(?: any ?more)?", denied=True, stance=Stance.NEGATION),
    zh("employer", f"{ZH_SELF}(?:就职于|任职于|供职于){_ZH_ORGANISATION}"),
    zh("employer", f"{ZH_SELF}在{_ZH_ORGANISATION}(?:工作|上班|任职|就职|(?:做|当|担任)(?P<job>[^，。]{{2,12}}?))"),
    zh("employer", f"{ZH_SELF}(?:跳槽到|跳槽去|入职|加入)了?{_ZH_ORGANISATION}", stance=Stance.CHANGE),
    zh(
        "employer",
        f"{ZH_SELF}(?:又|重新|已经)*(?:(?:跳|调)?回(?:到|去)?了?{_ZH_ORGANISATION}(?:工作|上班|任职)|重新(?:加入|入职)了?"
        f"{_ZH_ORGANISATION.replace('value', 'value2')})",
        stance=Stance.CHANGE,
    ),
    zh(
        "employer",
        f"{ZH_SELF}(?:从{_ZH_ORGANISATION}(?:离职|辞职)"
        f"|不在{_ZH_ORGANISATION.replace('value', 'value2')}(?:工作|上班|干))",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "employer",
        rf"(?:i(?: now| currently)? work (?:at|for)|i(?:'m| am) (?:employed|working) (?:at|by|for)"
        rf"|my employer is) {_EN_ORGANISATION}(?: as (?:an? )?(?P<job>[a-z ]{{3,30}}?))?"
        r"(?: (?:in|since|on) .*| now)?",
    ),
    en(
        "employer",
        rf"i(?:'ve| have)?(?: just| recently)? (?:(?:re-?)?joined"
        r"|(?:gone|went) back to work(?:ing)? (?:at|for)|started (?:working )?at|got a job at"
        rf"|been hired by) {_EN_ORGANISATION}",
        stance=Stance.CHANGE,
    ),
    en(
        "employer",
        rf"i(?:'ve| have)?(?: just| recently)? (?:quit my job at|left my job at|resigned from|left(?= (?:Amazon"
        rf"|Google|Microsoft|Apple|Meta|Tesla|Netflix|IBM|Intel|Oracle|Nvidia))|no longer work (?:at|for)"
        rf"|don't work (?:at|for)) {_EN_ORGANISATION}(?: anymore)?",
        denied=True,
        stance=Stance.NEGATION,
    ),
    zh("school", f"{ZH_SELF}(?:毕业于(?P<value>[^，。]{{2,16}}?)|是(?P<value2>[^，。]{{2,16}}?)毕业的?)"),
    zh(
        "school",
        f"{ZH_SELF}在(?P<value>[^，。家]{{2,16}}?(?:大学|学院|学校|中学|小学|高中))(?:读书|上学|学习|念书|就读)",
    ),
    en(
        "school",
        r"i (?:graduated from|study at|go to|attend"
        r"|am studying at) (?P<value>(?:the )?(?-i:[A-Z])[A-Za-z' -]{1,40}?)(?<!Home)(?: in .*)?",
    ),
    en("school", r"i(?:'m| am) (?:a student|studying) at (?P<value>(?:the )?(?-i:[A-Z])[A-Za-z' -]{1,40}?)"),
    zh(
        "school",
        f"{ZH_SELF}在\\s?(?P<value>(?!家|这|那|哪)[^，。]{{2,20}}?)\\s?(?:读|上|念)\\s?"
        "(?:大[一二三四]|研[一二三究][^，。]{0,2}|高[一二三]|本科|硕士|博士?|phd|master|freshman|sophomore|junior|senior)",
    ),
    zh("major", f"{ZH_SELF}(?:学的?是|主修|的?(?:专业|major)\\s?是)\\s?(?P<value>[^，。什]{{2,20}}?)(?:专业)?的?"),
    en("major", r"i(?:'m| am) majoring in (?P<value>[a-z ]{3,30}?)"),
    en("major", r"i major(?:ed)? in (?P<value>[a-z ]{3,30}?)"),
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
        f"{ZH_SELF}的?(?:手机|电话)?(?:号|卡)?(?:的?运营商)?(?:现在)?(?:用的?是?|是)(?P<value>(?:中国)?(?:移动|联通|电信|广电))"
        "(?:的?(?:手机|电话)?[号卡])?",
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
    zh("marital_status", f"{ZH_SELF}(?:还)?是?(?P<value>单身|未婚|已婚|离异)(?:状态)?的?"),
    en("marital_status", rf"{EN_SELF} (?P<value>single|married|divorced|engaged)(?: (?:to|with) .*)?"),
    en(
        "marital_status",
        r"(?:i|we) (?:just |recently )?got (?P<value>married|divorced|engaged)(?: (?:last|this|in|on|to) .*)?",
        stance=Stance.CHANGE,
    ),
    zh("children", f"{ZH_SELF}(?:们)?有{NUMBER}个(?:孩子|小孩|娃)"),
    en("children", r"(?:i|we) have (?P<count>one|two|three|four|five|six|[1-9]) (?:kids?|child(?:ren)?)"),
)

_LANGUAGES_AND_PLACES = (
    zh("native_language", "我(?:的)?母语是(?P<value>[^，。什]{2,8}?)"),
    zh("speaks", f"{ZH_SELF}会(?:说|讲)(?:流利的|一点|一些|一口流利的)?(?P<list>[^，。]{{2,20}}?)"),
    en(
        "speaks",
        rf"i (?:can )?speak (?:fluent |some |a little |a bit of |both )?{_EN_LANGUAGES}(?: fluently| at home)?",
    ),
    zh(
        "visited", "我(?:已经|以前|曾经|之前)?去过(?!哪|那|这|一|很|不少)(?P<list>[^，。]{2,24}?)(?:旅游|旅行|玩|出差)?"
    ),
    en(
        "visited",
        r"i(?:'ve| have) (?:already )?(?:been to|visited) (?P<list>(?:the )?"
        r"(?-i:[A-Z])[A-Za-z ,'-]{1,60}?)(?: (?:before|yesterday|today|recently|this .*|twice|once"
        r"|many times|with .*|last .*|in .*))?",
    ),
)

# After work and home: "我是程序员" is no name, though 程 is a surname.
_NAMES_WITHOUT_A_VERB = (zh("name", f"我是(?P<value>{ZH_PERSON})(?<![员师生工人家者手迷粉控])"),)

RULES: tuple[FactRule, ...] = (
    *_NAMES,
    *_HOMES,
    *_WORK,
    *_BIRTHDAYS,
    *_CARRIERS,
    *_FAMILY_STATUS,
    *_LANGUAGES_AND_PLACES,
    *_NAMES_WITHOUT_A_VERB,
)
