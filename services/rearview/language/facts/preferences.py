"""What the speaker likes, dislikes, is used to and would have for once, with strength."""

from rearview.domain.fact import Stance, Strength
from rearview.language.facts.statement import EN_SELF, ZH_SELF, FactRule, en, zh

_ZH_STRONG = "很|非常|特别|最|超级?|真的|真|好|极其|十分|太|可"
_ZH_DEGREE = (
    f"(?P<degree>{_ZH_STRONG})?(?:就|也|还|一直|比较|挺|蛮|都|从小就?|其实|平时|周末|weekend|现在|更|很|特别)*"
    f"(?P<degree2>{_ZH_STRONG})?"
)
_ZH_THING = "(?P<list>(?!你|您|他|她|它|这|那|什么|谁|哪|上了|过|的|得|自己)[^，。]{1,24}?)"
_EN_DEGREE = (
    r"(?:(?:(?P<degree>really|absolutely|truly|especially|totally)|particularly|also|just|do|always|still|generally"
    r"|usually|now|mostly|mainly) )*"
)
_EN_THING = (
    r"(?P<list>(?!it\b|that\b|this\b|these\b|those\b|you\b|your\b|him\b|her\b|his\b|them\b|their\b|how\b"
    r"|what\b|when\b|where\b|why\b"
    r"|who\b|the way\b|the idea\b|the fact\b|to (?:be|have|know|say|think|see|ask|do)\b|being\b|one\b"
    r"|both\b|all\b|for\b|some\b|any\b|and\b|or\b|if\b|seeing\b|hearing\b|having (?:been|done|run|[a-z]+ed)\b)"
    r"[a-z0-9\u4e00-\u9fff][a-z0-9\u4e00-\u9fff' +#-]{1,60}?)"
)
_EN_THING_TAIL = (
    r"(?: (?:a lot|very much|so much|too|the most|at all|as well|because .*|since .*|when .*|after .*"
    r"|but .*|over .*|more than .*"
    r"|rather than .*|instead of .*|(?<=prefer )to .*|anymore|any more))?"
)
_EN_EATEN = (
    r"(?P<list>(?!it\b|that\b|this\b|at\b|out\b|much\b|enough\b|anything\b|any\b|a lot\b|to\b|before\b|after\b"
    r"|in\b)[a-z][a-z' -]{1,40}?)"
)

_LIKES = (
    zh(
        "likes",
        f"比起(?P<replaced>[^，。我]{{1,12}}?)[,，]?我(?:更|还是更|比较)(?:喜欢|爱|偏爱|偏好){_ZH_THING}",
        strength=Strength.PREFERRED,
    ),
    zh("likes", f"我(?:更|比较更)(?:喜欢|爱|偏爱){_ZH_THING}(?:而不是[^，。]*)?", strength=Strength.PREFERRED),
    zh(
        "likes",
        f"我(?:其实|还是|也|都|平时|一直)*(?:还|也)?(?:挺|蛮)(?:喜欢|爱(?=[吃喝看听玩用])){_ZH_THING}\\s*的",
    ),
    zh(
        "likes",
        f"我(?:们)?{_ZH_DEGREE}(?:喜欢|热爱|偏爱|喜爱|钟爱|偏好|爱(?=[吃喝看听玩用])|爱(?=[a-z]))(?:上了)?(?!的|过|一个人|上了){_ZH_THING}",
    ),
    zh(
        "likes",
        f"我{_ZH_DEGREE}(?:不是?(?:很|太|怎么)喜欢|不大喜欢){_ZH_THING}",
        denied=True,
        strength=Strength.WEAK,
    ),
    zh(
        "likes",
        f"我{_ZH_DEGREE}对(?P<list>[^，。你他她不没]{{1,16}}?)(?:都|也)?(?:很|非常|特别|比较)?(?:感兴趣|有兴趣)",
    ),
    zh(
        "likes",
        f"我{_ZH_DEGREE}对(?P<list>[^，。你他她不没]{{1,16}}?)(?:都|也)?(?:不感兴趣|没(?:什么|有)?兴趣)",
        denied=True,
    ),
    zh(
        "likes",
        "(?P<list>(?!什么|这|那|但|所以)[^，。我你您他她它]{1,12}?)\\s?(?:什么的|之类的|这些|那些)?我(?:们)?(?:是|都|也|从来|一般|基本上?|平时)*"
        "(?:不(?:[吃喝碰](?!了|下|完|到)|爱[吃喝看听玩用]?|喜欢))(?:的)?",
        denied=True,
    ),
    zh(
        "likes",
        "我(?P<list>(?!什么|这|那|们|现在|今天|从来|一般|平时|都|也|就|最|很|真)[^，。我你您他她它不]{2,12}?)\\s?(?:什么的|之类的)"
        "(?:都|也|从来|一般|基本上?|平时)*(?:不(?:[吃喝碰](?!了|下|完|到)|爱[吃喝看听玩用]?|喜欢))(?:的)?",
        denied=True,
    ),
    zh("likes", "我的?(?:爱好|兴趣|兴趣爱好)(?:是|有|包括)(?P<list>(?!什么|很)[^，。]{2,30}?)"),
    zh("likes", f"我{_ZH_DEGREE}(?:吃不了|喝不了|怕(?=辣|甜|酸|苦|油腻)|不抽(?=烟)){_ZH_THING}", denied=True),
    zh("likes", f"我{_ZH_DEGREE}(?:讨厌|受不了|反感|厌恶|痛恨|最烦){_ZH_THING}", denied=True, strength=Strength.STRONG),
    zh(
        "likes",
        f"我(?:现在)?(?:已经)?(?:不再喜欢|不再爱[吃喝]?|不再[吃喝]){_ZH_THING}",
        denied=True,
        stance=Stance.CHANGE,
    ),
    zh(
        "likes", f"{ZH_SELF}(?:开始喜欢(?:上)?|迷上|爱上|喜欢上)了?(?!一个人|他|她|你){_ZH_THING}", stance=Stance.CHANGE
    ),
    zh("likes", f"{ZH_SELF}(?:戒了?|戒掉了?)(?P<list>[^，。]{{1,8}}?)", denied=True, stance=Stance.CHANGE),
    zh(
        "likes",
        f"(?:{ZH_SELF})?(?:以后|今后)(?:都|就|再也)*不(?:再)?[吃喝](?P<list>[^，。]{{1,10}}?)",
        denied=True,
        stance=Stance.CHANGE,
    ),
    zh("likes", f"我(?:现在|已经)+不(?:喜欢|爱[吃喝看听玩用]|[吃喝]){_ZH_THING}", denied=True, stance=Stance.CHANGE),
    zh(
        "likes",
        f"我(?:们)?{_ZH_DEGREE}(?:不喜欢|不爱(?=[吃喝看听玩用])|(?:从来?)?不能?(?=[吃喝](?!了|下|完|到|太|早|晚|饭|药|惯|素|准|起|上))){_ZH_THING}",
        denied=True,
    ),
    en("likes", rf"i {_EN_DEGREE}(?:love|adore)(?: to)? {_EN_THING}{_EN_THING_TAIL}", strength=Strength.STRONG),
    en(
        "likes",
        rf"i {_EN_DEGREE}prefer(?: to)? {_EN_THING}(?: (?:to|over|rather than"
        rf"|instead of) (?P<replaced>[a-z' -]{{1,40}}?)"
        r"(?: (?:because|when|since) .*)?)?",
        strength=Strength.PREFERRED,
    ),
    en("likes", rf"i {_EN_DEGREE}(?:like|enjoy)(?: to)? {_EN_THING}{_EN_THING_TAIL}"),
    en(
        "likes",
        rf"{EN_SELF} (?:really |very |super |quite )?(?:a (?:big |huge )?fan of|into|fond of|keen on|crazy about"
        rf"|passionate about|interested in) {_EN_THING}{_EN_THING_TAIL}",
    ),
    en(
        "likes",
        rf"my (?:main |favou?rite )?(?:hobby|hobbies|interests?) (?:is|are|include) {_EN_THING}{_EN_THING_TAIL}",
    ),
    en(
        "likes",
        rf"i {_EN_DEGREE}(?:hate|detest|loathe|can't stand|cannot stand"
        rf"|can't bear)(?: to)? {_EN_THING}{_EN_THING_TAIL}",
        denied=True,
        strength=Strength.STRONG,
    ),
    en(
        "likes",
        rf"i(?: |(?='))(?:(?:no longer|stopped) (?:like|liking|love|enjoy|eat|eating|drink|drinking) {_EN_THING}"
        rf"|(?:'ve |have )?(?:just )?(?:gave|given) up (?:drinking |eating )?{_EN_THING.replace('list', 'list3')}"
        rf"|don't (?:like|love|enjoy|eat|drink) {_EN_THING.replace('list', 'list2')} (?:anymore|any more))",
        denied=True,
        stance=Stance.CHANGE,
    ),
    en(
        "likes",
        rf"(?:i'm|i am) not (?:a (?:big |huge )?fan of|into|fond of|keen on) {_EN_THING}{_EN_THING_TAIL}",
        denied=True,
    ),
    en(
        "likes",
        rf"i {_EN_DEGREE}(?:dislike|don't (?:really )?(?:like|enjoy|care for)|do not (?:like"
        rf"|enjoy))(?: to)? {_EN_THING}"
        rf"{_EN_THING_TAIL}",
        denied=True,
    ),
    en(
        "likes",
        rf"i (?:(?:don't|do not|never|can't|cannot) (?:eat|drink)|avoid(?= (?:gluten|dairy|sugar|meat|alcohol"
        rf"|caffeine|seafood|pork|beef|spicy))|(?:can't|cannot) have(?= (?:gluten|dairy|sugar|meat|alcohol|caffeine"
        rf"|seafood|pork|beef|spicy))) {_EN_EATEN}{_EN_THING_TAIL}",
        denied=True,
    ),
    zh("likes", "我(?:平时|一般|通常|每天|总是|一直|早上|经常)+(?:都)?(?P<list>[喝吃][^，。了过]{1,12}?)"),
    zh(
        "likes",
        "我(?:平时|一般|通常|每天|总是|一直|都)+(?P<list>[坐乘骑][^，。了过]{1,8}?)(?:去)?(?:上下班|上班|通勤|出行|上学|公司)",
    ),
    en("likes", rf"i (?:usually|mostly|normally|always|mainly|only) (?:drink|eat) {_EN_EATEN}"),
    en(
        "payment_method",
        r"i (?:usually |always |mostly |normally )?pay (?:by|with|via|using) (?P<value>[a-z][a-z ]{2,30}?)",
    ),
    zh(
        "payment_method",
        "我(?:平时|一般|通常|习惯)+(?:都)?用(?P<value>支付宝|微信支付|微信|信用卡|现金|银行转账)(?:付款|支付|付钱|结账)?",
    ),
)

_FAVOURITES = (
    zh(
        "favourite",
        "我最(?:喜欢|爱)的(?P<topic>[^，。是]{1,8})(?:一直|就)?是(?P<value>(?!什么|谁|哪|你|他|她)[^，。]{1,20}?)",
    ),
    en(
        "favourite",
        r"my (?:all-time |all time )?favou?rite (?P<topic>[a-z]+(?: [a-z]+)?) (?:is|are|has always been) "
        r"(?P<value>(?!when\b|because\b|that\b|to\b|how\b|what\b|you\b)[a-z0-9][a-z0-9' -]{1,40}?)(?: "
        r"(?:because|since|by) .*)?",
    ),
)

_FOR_ONCE = (
    zh(
        "likes",
        "(?:我)?(?:今天|今晚|今早|明天|中午|晚上|早上|下午|现在|这次|这会儿|突然|刚好|就|有点|好|很)*"
        "想(?P<list>[吃喝](?!什么|点|饭|药)[^，。]{1,12}?)",
        stance=Stance.ONE_OFF,
    ),
    zh(
        "likes",
        "(?:我)?(?:今天|今儿|今晚|中午|晚上|早上|下午|这次|先)+(?:我)?(?:就|随便|简单)*(?:来|要|点|喝|吃)(?:一?[杯份个碗点])?(?P<list>(?!了)[^，。了开会]{1,12}?)",
        stance=Stance.ONE_OFF,
    ),
    zh("likes", "(?:我)?(?:来|要|点)一?[杯份碗](?P<list>[^，。了]{1,10}?)", stance=Stance.ONE_OFF),
    zh("likes", "(?:我)?这次(?:我)?(?:就)?(?P<list>[坐选用][^，。]{1,12}?)", stance=Stance.ONE_OFF),
    en(
        "likes",
        r"(?:today |tonight |this time |for now )?i(?:'ll| will) (?:have|take|try|go for) (?:an? |the |some )?"
        r"(?P<list>(?!a look\b|look\b|to\b|care\b|it\b|that\b|this\b|you\b|your\b|my\b)[a-z][a-z' -]{1,40}?)"
        r"(?: (?:today|tonight|this time|for now|instead))?",
        stance=Stance.ONE_OFF,
    ),
    en(
        "likes",
        r"(?:today |tonight )?i (?:feel like (?!the\b|i\b|we\b|you\b|it\b|my\b|an? (?!coffee|tea|beer|pizza|burger"
        r"|drink|snack|sandwich|salad|latte|steak|curry))|fancy |want to (?:eat|drink|have) (?!better|healthier|well"
        r"|less|more|it|out))(?:an? |the |some |having )?"
        r"(?P<list>[a-z][a-z' -]{1,40}?)(?: (?:today|tonight|right now|for (?:lunch|dinner|breakfast)|now))?",
        stance=Stance.ONE_OFF,
    ),
    en(
        "likes",
        r"i(?:'m| am) (?:craving|in the mood for) (?:an? |the |some )?(?P<list>[a-z][a-z' -]{1,40}?)"
        r"(?: (?:today|tonight|right now|for (?:lunch|dinner|breakfast)))?",
        stance=Stance.ONE_OFF,
    ),
    en(
        "likes",
        r"i'd rather (?:take|have|drink|eat|use) (?:an? |the )?(?P<list>[a-z][a-z' -]{1,40}?)(?: (?:today|tonight"
        r"|this time))?",
        stance=Stance.ONE_OFF,
    ),
)

_FROM_NOW_ON = (
    zh(
        "likes",
        f"(?:{ZH_SELF})?(?:以后|今后|从今以后|从现在起|从现在开始)[,，]?(?:我)?(?:就|都|只|改)*(?P<list>[喝吃坐用](?!中文|英文|英语)[^，。]{{1,14}}?)",
        stance=Stance.CHANGE,
    ),
    zh("likes", f"{ZH_SELF}(?:改|开始改)(?P<list>[喝吃用坐][^，。]{{1,14}}?)", stance=Stance.CHANGE),
    en(
        "likes",
        r"from now on,? i(?:'ll| will) (?:only |always )?(?:have|drink|eat|take|use|order) (?:an? "
        r"|the )?(?P<list>[a-z][a-z' -]{1,40}?)",
        stance=Stance.CHANGE,
    ),
)

RULES: tuple[FactRule, ...] = (*_FROM_NOW_ON, *_FAVOURITES, *_FOR_ONCE, *_LIKES)
