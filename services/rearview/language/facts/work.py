"""What the speaker does: job, employer, school and studies."""

from rearview.domain.fact import Stance
from rearview.language.facts.statement import EN_SELF, ZH_SELF, ZH_SELF_NOW, FactRule, en, zh
from rearview.language.facts.word_lists import any_of

_EN_NO_TRADE = (
    r"(?:[a-z-]+ )?(?:terrible|bad|awful|lousy|slow|decent|good|great|amateur|aspiring|wannabe|future|former|ex"
    r"|first-time|big|returning|regular|loyal)\b"
)
# "我是等客服" waits for one, "我的工作是培训销售" trains them.
_ZH_DONE_TO_THEM = (
    "[想要来去找问说给跟为怕了过等约请骂催谢帮追换让把被没不因如嫁娶恨刚]|听(?!力)|看(?!护)|学(?![生校院科习术])|教(?![师授练育学务])"
    "|打(?![击工印])|用(?!户)|带(?!货)|陪(?![诊练])|投诉|联系|预约|相信|信任|支持|崇拜|喜欢|讨厌|训练|招聘|对接|服务于|维护|负责"
    "|咨询(?!师|顾问)|培训(?!师|讲师|老师)|管理(?!员|会计|咨询|层)"
)
# Skill, play and honorary posts are no living: "我是新手司机", "我是群admin".
_ZH_NO_TRADE = (
    "新手|菜鸟|老司机|业余|前(?![端台])|准|未来|假|差|坏|好|笨|合格|称职|第[一二三]"
    "|[^，。]{0,8}(?:不是|学生会|社团|班级|志愿|第一次)|[^，。]{0,2}群|[^，。]{0,6}[0-9] ?pm|(?<=就是)测试"
    f"|{_EN_NO_TRADE}"
)
_ZH_JOBS = any_of("occupations_zh", "occupations_en")
_ZH_JOB = (
    f"(?P<value>(?!\\s?(?:{_ZH_DONE_TO_THEM}|{_ZH_NO_TRADE}))"
    f"[^，。我你他她它的在名个位]{{0,10}}?(?<![a-z])(?:{_ZH_JOBS}))"
)
# What is done already, or offered ("我做翻译吧"), is a task.
_ZH_NO_TASK = "(?![^，。]*[吧了]$)"
_EN_JOBS = any_of("occupations_en")
_EN_JOB = rf"(?P<value>(?!{_EN_NO_TRADE})(?:[a-z-]+ ){{0,3}}(?:{_EN_JOBS}))"
_EN_ANY_JOB = r"(?P<value>(?!result\b|team\b|whole\b|favou?r\b|rule\b|treat\b|test\b)[a-z][a-z -]{2,40}?)"
_EN_PLACE_OF_WORK = r"(?: (?:at|for|in|by|from|with|on|who|and|these|near|right|here) .*| here)?"
_EN_ORGANISATION = r"(?P<value>(?:the )?(?-i:[A-Z])[A-Za-z0-9&.' -]{1,40}?)"
# In small letters only as the last word, and no word that follows "work at" otherwise.
_EN_SMALL_ORGANISATION = (
    r"(?P<value>(?!a\b|an\b|the\b|my\b|our\b|home\b|night\b|nights\b|school\b|uni\b|university\b|scale\b|sea\b|all\b"
    r"|least\b|this\b|that\b|it\b|me\b"
    r"|free\b|fun\b|myself\b|now\b|you\b|him\b|her\b|them\b|someone\b|people\b|hours\b|years\b|ages\b|money\b|once\b"
    r"|last\b|first\b|best\b|work\b)"
    r"[a-z][a-z0-9&.-]{2,20})$"
)
_ZH_ORGANISATION = "(?P<value>(?!家|公司|这|那|外|哪|一家|一个|学校|找|看|换|投|面试|准备)[^，。我你他她]{2,16}?)"
_ZH_NO_EMPLOYER = (
    "老家|国外|外地|外面|大学|学校|家|新[公房]|[上前]一?家?公司|前司|网上|线上|股市|实验室"
    "|[^，。]{0,8}(?:里|中|组|项目|上)(?:做|搞|当|担任|从事)"
)
_EN_LATELY = "(?:(?: just| recently| finally| officially)*)"
_EN_WHEN = (
    r"(?: (?:last .*|this .*|in .*|on .*|yesterday|today|a (?:few )?.* ago|two .* ago|anymore|any more"
    r"|after .*|to (?:start|join|work|become|found|pursue|focus|go|do|raise) .*))?"
)
_EN_SCHOOL = r"(?P<value>(?:the )?(?-i:[A-Z])[A-Za-z&' -]{1,40}?)"
_EN_SUBJECT = (
    r"(?P<value>(?!hard\b|abroad\b|for\b|at\b|in\b|to\b|a lot\b|with\b|there\b|here\b|every\b)[a-z][a-z &-]{2,30}?)"
)

_JOBS = (
    zh(
        "employer",
        f"{ZH_SELF_NOW}在(?!{_ZH_NO_EMPLOYER}){_ZH_ORGANISATION}"
        f"(?:做|当|担任){_ZH_JOB.replace('value', 'job')}(?:工作|的)?",
    ),
    zh("job", f"{ZH_SELF_NOW}是(?:在)?(?:一?[名个位]|一家[^，。的]{{1,8}}的)?{_ZH_JOB}"),
    zh("job", f"我的?(?:工作|职业|本职|岗位|职位|职务)(?:工作)?是(?:一?[名个位])?{_ZH_JOB}"),
    # A field is no occupation: "做金融的" ends no "analyst", so that what is done must be what somebody can be.
    zh(
        "job",
        f"{_ZH_NO_TASK}{ZH_SELF_NOW}(?:是)?(?:在(?!前|上一?家)[^，。]{{2,12}}?)?(?:做|当|担任){_ZH_JOB}(?:工作|的)?",
    ),
    # "我又不是医生" reminds of what goes without saying.
    zh(
        "job",
        f"我(?:现在|已经|并|早就)*不(?:再)?是(?:一?[名个位]|学|干|做)?{_ZH_JOB}",
        denied=True,
        stance=Stance.NEGATION,
    ),
    zh(
        "job",
        f"{ZH_SELF}(?:升(?:职)?(?:成|为|到|了)|转岗?(?:成|为|到|做)|晋升(?:成|为)|当上了?|转行做)了?{_ZH_JOB}",
        stance=Stance.CHANGE,
    ),
    en(
        "job",
        rf"(?:{EN_SELF} an?|i work(?: full-time| part-time| freelance)? as an?|i(?:'m| am|'ve been"
        rf"| have been)(?: currently| mostly| still)? (?:working|employed) as an?"
        rf"|my (?:day )?job is (?:being |as )?an?|my job title is"
        rf"|i became an?) {_EN_JOB}{_EN_PLACE_OF_WORK}",
    ),
    en(
        "job",
        r"i(?:'ve| have)? (?:(?:just|recently|mostly|currently) )*(?:work|working|been working|worked)(?: nights"
        r"| days| full-time"
        r"| part-time| freelance| remotely)? as an? "
        rf"{_EN_ANY_JOB}{_EN_PLACE_OF_WORK}",
    ),
    en(
        "job",
        rf"i(?:'m| am)[a-z ,'-]{{0,30}} working (?:(?:nights|days|shifts|remotely|full-time|part-time|weekends"
        rf"|currently) )*as an? {_EN_JOB}{_EN_PLACE_OF_WORK}",
    ),
    en("job", rf"i (?:freelance|moonlight) as an? {_EN_ANY_JOB}{_EN_PLACE_OF_WORK}"),
    en(
        "job",
        rf"(?:i(?:'ve| have)?(?: been|{_EN_LATELY} got|{_EN_LATELY} been)? promoted to|i(?:'ve"
        rf"| have)?{_EN_LATELY} (?:started|became|begun|got|landed)(?: (?:a new |a )?(?:job|work|working))? as an?)"
        rf" (?:an? |the )?{_EN_JOB}{_EN_PLACE_OF_WORK}{_EN_WHEN}",
        stance=Stance.CHANGE,
    ),
    en("job", rf"{EN_SELF} (?P<value>retired|self-employed|unemployed|between jobs|a homemaker)"),
    en(
        "job",
        rf"(?:i'm|i am) (?:not|no longer) (?:actually |really )?an? {_EN_JOB}(?: any ?more)?",
        denied=True,
        stance=Stance.NEGATION,
    ),
)

_EMPLOYERS = (
    zh("employer", f"{ZH_SELF}(?:就职于|任职于|供职于){_ZH_ORGANISATION}"),
    zh("employer", f"{ZH_SELF_NOW}在{_ZH_ORGANISATION}(?<!的)(?:工作|上班|任职|就职)"),
    # Who works in a field somewhere works there, unless that is no organisation.
    zh(
        "employer",
        f"{ZH_SELF_NOW}在(?!{_ZH_NO_EMPLOYER}){_ZH_ORGANISATION}(?:做|搞|从事)"
        f"[^，。的了过]{{0,4}}?(?<![a-z])(?:{any_of('fields_zh')})(?:方面|相关|这块)?(?:的|工作|的工作)?",
    ),
    zh("employer", f"{ZH_SELF}(?:跳槽到|跳槽去|入职|加入)了?{_ZH_ORGANISATION}", stance=Stance.CHANGE),
    zh(
        "employer",
        f"{ZH_SELF}从(?P<replaced>[^，。跳]{{2,12}}?)跳(?:槽)?(?:到|去)了?{_ZH_ORGANISATION}",
        stance=Stance.CHANGE,
    ),
    zh(
        "employer",
        f"{ZH_SELF}(?:又|重新|已经)*(?:(?:跳|调)?回(?:到|去)?了?{_ZH_ORGANISATION}(?:工作|上班|任职)|重新(?:加入"
        f"|入职)了?"
        f"{_ZH_ORGANISATION.replace('value', 'value2')})",
        stance=Stance.CHANGE,
    ),
    zh(
        "employer",
        f"{ZH_SELF}(?:刚)?(?:从{_ZH_ORGANISATION}(?:离职|辞职|被裁|裸辞|退休)"
        f"|不在{_ZH_ORGANISATION.replace('value', 'value2')}(?:工作|上班|干))",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "employer",
        rf"(?:i(?: now| currently)? work (?:at|for|with)|i(?:'m| am|'ve been| have been)(?: currently"
        rf"| now)? (?:employed|working) (?:at|by|for|with)"
        rf"|my employer is|i work (?:nights|days|weekends|part-time|full-time|remotely) (?:at"
        rf"|for)) {_EN_ORGANISATION}(?: as (?:an? )?"
        rf"(?P<job>[a-z ]{{3,30}}?))?"
        r"(?: (?:in|since|on|out of|doing) .*| now)?",
    ),
    en("employer", rf"i(?:'ve| have) been (?:at|with) {_EN_ORGANISATION} (?:since|for) .*"),
    en("employer", rf"i(?: now| currently)? work (?:at|for) {_EN_SMALL_ORGANISATION}"),
    en(
        "employer",
        rf"i(?:'ve| have)?{_EN_LATELY} (?:(?:re-?)?joined"
        r"|(?:gone|went) back to work(?:ing)? (?:at|for)|started (?:working |a (?:new )?job |a new role )?(?:at|with)"
        r"|start(?:ing)? (?:work(?:ing)? |a new job )?(?:at|with)|got (?:a job|hired|an offer) (?:at|by)"
        r"|landed a job at"
        rf"|accepted a job at|been hired by|moved over to) {_EN_ORGANISATION}(?: as (?:an? )?"
        rf"(?P<job>[a-z ]{{3,30}}?))?{_EN_WHEN}",
        stance=Stance.CHANGE,
    ),
    en(
        "employer",
        rf"i(?:'ve| have)?{_EN_LATELY} (?:quit my job at|left my job at|resigned from|(?:got |was "
        rf"|been )(?:laid off|let go|fired) (?:from|by)|left(?= (?:Amazon"
        r"|Google|Microsoft|Apple|Meta|Tesla|Netflix|IBM|Intel|Oracle|Nvidia)| .* to (?:start|join|found|work|become"
        r"|pursue))|no longer work (?:at|for)"
        rf"|don't work (?:at|for)) {_EN_ORGANISATION}(?: anymore)?{_EN_WHEN}",
        denied=True,
        stance=Stance.NEGATION,
    ),
)

_STUDIES = (
    zh("school", f"{ZH_SELF}(?:毕业于(?P<value>[^，。]{{2,16}}?)|是(?P<value2>[^，。]{{2,16}}?)毕业的?)"),
    zh(
        "school",
        f"{ZH_SELF}在(?P<value>[^，。家]{{2,16}}?(?:大学|学院|学校|中学|小学|高中))(?:读书|上学|学习|念书|就读)",
    ),
    en(
        "school",
        r"i (?:(?:just|recently) )?(?:graduated from|study at|go to|attend|went to(?= .*(?:University|College|School"
        r"|Institute))"
        rf"|am studying at) {_EN_SCHOOL}(?<!Home)(?: in .*| with .*)?",
    ),
    en(
        "school",
        rf"i(?:'m| am) (?:an? (?:[a-z]+ )?(?:[a-z]+ )?(?:student|freshman|sophomore|junior|senior|undergrad|postdoc)"
        rf"|studying|doing (?:my|a) [a-z]+) (?:at|@) {_EN_SCHOOL}",
    ),
    zh(
        "school",
        f"{ZH_SELF}在\\s?(?P<value>(?!家|这|那|哪)[^，。]{{2,20}}?)\\s?(?:读|上|念)\\s?"
        "(?:大[一二三四]|研[一二三究][^，。]{0,2}|高[一二三]|本科|硕士|博士?|mba|phd|master|freshman|sophomore|junior"
        "|senior)",
    ),
    zh(
        "major", f"{ZH_SELF}(?:是)?学(?P<value>(?!会|到|过|了|习|好|得|什么|这|那|谁|来|做|着)[^，。我了过]{{2,10}}?)的"
    ),
    zh(
        "major",
        f"{ZH_SELF}(?:在)?(?:大学|本科|硕士|研究生|博士)?(?:时)?(?:学的?(?:就|一直)?是|读的(?:就)?是|主修(?:的是)?"
        f"|的?(?:专业|major)\\s?是)\\s?(?P<value>[^，。什]{{2,20}}?)(?:专业)?的?",
    ),
    en("major", rf"i(?:'m| am) majoring in {_EN_SUBJECT}(?: at .*| with .*)?"),
    en("major", rf"i major(?:ed)? in {_EN_SUBJECT}(?: at .*| in .*)?"),
    en(
        "major",
        rf"(?:my degree is in|i (?:have|got|hold|'ve got) an? (?:[a-z']+ )?(?:degree|bachelor's|master's|phd|ba|bs"
        rf"|ms) in) {_EN_SUBJECT}(?: from .*)?",
    ),
    en(
        "major",
        rf"i(?:'m| am)? (?:study|studying) {_EN_SUBJECT} at (?P<school>(?:the )?(?-i:[A-Z])[A-Za-z&' -]{{1,40}}?)",
    ),
    en("major", rf"i(?:'m| am) (?:currently )?studying {_EN_SUBJECT}(?: in (?:college|school|uni|university))?"),
)

RULES: tuple[FactRule, ...] = (*_JOBS, *_EMPLOYERS, *_STUDIES)
