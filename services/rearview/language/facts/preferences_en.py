"""What the speaker likes, dislikes, is used to and would have for once, in English."""

from rearview.domain.fact import Stance, Strength
from rearview.language.facts.statement import EN_SELF, en

_DEGREE = (
    r"(?:(?:(?P<degree>really|absolutely|truly|especially|totally|genuinely|seriously)|particularly|also|just|do"
    r"|always|still"
    r"|generally|usually|now|mostly|mainly|much|strongly|definitely|actually|honestly|kinda|kind of|sort of|personally"
    r"|secretly|quite|both|all|very much|have always|have long) )*"
)
_THING = (
    r"(?P<list>(?!it\b|that\b|this\b|these\b|those\b|you\b|your\b|him\b|her\b|his\b|them\b|their\b|how\b"
    r"|what\b|when\b|where\b|why\b"
    r"|who\b|the way\b|the idea\b|the fact\b|to (?:be|have|know|say|think|see|ask|do)\b|being\b|one\b|not\b"
    r"|both\b|all\b|for\b|some\b|any\b|and\b|or\b|if\b|seeing\b|hearing\b|having (?:been|done|run|[a-z]+ed)\b)"
    r"[a-z0-9\u4e00-\u9fff][a-z0-9\u4e00-\u9fff' +#-]{1,60}?)"
)
_THING_TAIL = (
    r"(?: (?:a lot|very much|so much|too|the most|at all|as well|because .*|since .*|when .*|after .*"
    r"|but .*|over .*|more than .*|either|in general|especially .*|even if .*|with (?:a )?passion|to death|to bits"
    r"|like crazy|more than anything"
    r"|rather than .*|instead of .*|(?<=prefer )to .*|anymore|any more|myself))?"
)
_EATEN = (
    r"(?P<list>(?!it\b|that\b|this\b|at\b|out\b|much\b|enough\b|anything\b|any\b|a lot\b|to\b|before\b|after\b"
    r"|in\b|well\b|there\b|here\b|now\b|yet\b|more than\b|less than\b|lunch\b|breakfast\b|dinner\b"
    r"|alone\b)[a-z][a-z' -]{1,40}?)"
)
_FOODS = (
    "gluten|dairy|sugar|meat|red meat|alcohol|caffeine|seafood|pork|beef|spicy|lactose|nuts|carbs|bread|milk|cheese"
    "|wheat|soy"
    "|shellfish|eggs"
)
_HABITS = "smoking|drinking|vaping|caffeine|alcohol|coffee|sugar|soda|gambling|meat|gluten|dairy|social media|weed"
_FAN = r"(?:(?:(?:big|huge|massive|real|lifelong|longtime|long-time|die-hard|great) )*)"

LIKES = (
    en(
        "likes",
        rf"i {_DEGREE}(?:love|adore|worship)(?: to| me some| a good| myself some)? {_THING}{_THING_TAIL}",
        strength=Strength.STRONG,
    ),
    en(
        "likes",
        rf"(?:i|we)(?:'ve| have) (?:always |long |really )+(?:loved|adored) (?:to )?{_THING}{_THING_TAIL}",
        strength=Strength.STRONG,
    ),
    en(
        "likes",
        rf"(?:i|we) {_DEGREE}prefer(?: to)? {_THING}(?:,? (?:to|over|rather than"
        rf"|instead of) (?P<replaced>[a-z' -]{{1,40}}?)"
        r"(?: (?:because|when|since|for|any day|most of) .*| any day)?)?",
        strength=Strength.PREFERRED,
    ),
    en(
        "likes",
        r"(?P<list>(?!it\b|this\b|that\b|i\b|my\b|start|check|talk|look|go\b|come)[a-z][a-z' -]{1,30}?) over "
        r"(?P<replaced>[a-z][a-z' -]{1,30}?),? (?:any ?day|any ?time|every time|all day|always)(?: .*)?",
        strength=Strength.PREFERRED,
    ),
    en(
        "likes",
        rf"preferably (?!(?:with|near|under|over|in|on|at|before|after|by|within|from|close|around|no|to"
        rf"|some[a-z]+)\b){_THING}",
        strength=Strength.PREFERRED,
    ),
    en(
        "likes",
        rf"(?:i|we) {_DEGREE}(?:like|enjoy)(?: to"
        rf"| me some)? {_THING}{_THING_TAIL}",
    ),
    en(
        "likes",
        rf"(?:i|we)(?:'ve| have) (?:always |long |really )+(?:liked|enjoyed|been into"
        rf"|been a {_FAN}fan of) (?:to )?{_THING}{_THING_TAIL}",
    ),
    en(
        "likes",
        rf"{EN_SELF} (?:(?:really|very|super|quite|totally|pretty|so|absolutely|still|big time|all|kind of|kinda"
        rf"|such) )*"
        rf"(?:an? {_FAN}fan of|an? (?:sucker|fiend) for|(?:big|huge) fans? of|into|fond of|keen on|crazy about"
        rf"|nuts about|obsessed"
        rf" with|obsessed w/|hooked on|addicted to|partial to|big on|all about|passionate about"
        rf"|interested in) {_THING}{_THING_TAIL}",
    ),
    en(
        "likes",
        rf"my (?:main |biggest |favou?rite |only )*(?:hobby|hobbies|interests?|passions?) (?:is|are"
        rf"|include) {_THING}{_THING_TAIL}",
    ),
    en(
        "likes",
        r"my (?:go-to|usual|regular)(?: [a-z]+)? (?:drink|order|coffee|tea|snack|breakfast|lunch|dinner|meal|dish"
        r"|beer|cocktail"
        r"|dessert|takeout|restaurant|cuisine|airline|seat|brand|genre) (?:is|'s) (?:always )?(?:an? |the )?"
        r"(?P<list>(?!at\b|in\b|on\b|to\b|not\b|around\b|about\b)[a-z][a-z' -]{1,40}?)",
    ),
    en(
        "likes",
        rf"{EN_SELF} (?:(?:more of|such|definitely|totally|very much|always|really|bit of) )*an? "
        rf"(?:huge |big |total |real |avid |massive |proud )*(?P<list>(?!(?:[a-z]+ )?(?:heavy|big|social|light|fast"
        rf"|slow"
        rf"|picky)\b)[a-z]+(?: [a-z]+)?) "
        r"(?:drinker|lover|fan|eater|enthusiast|addict|buff|geek|nut|fanatic|aficionado|junkie)",
    ),
    en(
        "likes",
        rf"{EN_SELF} (?:(?:more of|such|definitely|totally|very much|always"
        rf"|really) )*an? (?P<list>[a-z]+(?: [a-z]+)?) (?:person|guy|girl|gal|man)",
        known=True,
    ),
    en(
        "likes",
        rf"{EN_SELF} (?:(?:more of|such|definitely|totally|very much|always|really) )*an? "
        r"(?P<list>beach|mountain|city|summer|winter|outdoors|train) (?:person|guy|girl)",
    ),
    en(
        "likes",
        rf"{EN_SELF} (?:not|never been) (?:(?:really|much of|exactly|that much of|so much|a|an"
        rf"|big) )*(?P<list>[a-z]+(?: [a-z]+)?) "
        r"(?:person|guy|girl|drinker|lover|fan|eater|enthusiast)",
        denied=True,
        known=True,
    ),
    en(
        "likes",
        rf"i {_DEGREE}(?:hate|detest|loathe|despise|can't stand|cannot stand"
        rf"|can't bear|couldn't stand|can't deal with)(?: to)? {_THING}{_THING_TAIL}",
        denied=True,
        strength=Strength.STRONG,
    ),
    en(
        "likes",
        rf"(?:i|we)(?:'ve| have) always (?:hated|loathed|detested|despised|disliked) (?:to )?{_THING}{_THING_TAIL}",
        denied=True,
        strength=Strength.STRONG,
    ),
    en(
        "likes",
        rf"(?:i|we)(?:'ve| have)? never (?:(?:really|much|particularly|been able to) )*(?:liked|enjoyed|loved"
        rf"|cared for|been (?:a {_FAN}fan of|into|keen on|big on|fond of)|like|enjoy|stand) "
        rf"(?:to )?{_THING}{_THING_TAIL}",
        denied=True,
    ),
    en(
        "likes",
        rf"i(?: |(?='))(?:(?:no longer|stopped) (?:like|liking|love|enjoy|eat|eating|drink|drinking) {_THING}"
        rf"|(?:'ve |have )?(?:just )?(?:gave|given) up (?:drinking "
        rf"|eating )?(?!on\b){_THING.replace('list', 'list3')}(?: (?:last|this|in|a few|two|for) .*)?"
        rf"|(?:'ve |have )?(?:just )?quit (?P<list4>{_HABITS})(?: (?:last|this|in|a few|two|for) .*)?"
        rf"|don't (?:like|love|enjoy|eat|drink) {_THING.replace('list', 'list2')} (?:anymore|any more))",
        denied=True,
        stance=Stance.CHANGE,
    ),
    en(
        "likes",
        rf"i(?:'ve| have) (?:(?:grown|come|learned|learnt|started) to (?:really )?(?:like|love|enjoy|appreciate)"
        rf"|(?:really )?gotten into|(?:really )?got into"
        rf"|gotten hooked on) {_THING}{_THING_TAIL}",
        stance=Stance.CHANGE,
    ),
    en(
        "likes",
        rf"(?:i'm|i am) (?:just |really |so )?not (?:(?:really|that|much|too|particularly|exactly|super"
        rf"|very) )*(?:an? {_FAN}fan of|(?:big|huge) fan of|into|fond of|keen on|crazy about|big on|wild about) "
        rf"{_THING}{_THING_TAIL}",
        denied=True,
    ),
    en(
        "likes",
        rf"(?:i|we) {_DEGREE}(?:dislike|(?:don't|do not) (?:(?:really|particularly|much|even|actually|personally"
        rf"|usually) )*"
        rf"(?:like|enjoy|care for|care much for|fancy|go for))(?: to)? {_THING}{_THING_TAIL}",
        denied=True,
    ),
    en(
        "likes",
        rf"(?:i|we) (?:(?:really|just|usually|generally|personally) )*(?:(?:don't|do not|never|can't|cannot"
        rf"|won't) (?:(?:really|usually|ever) )*(?:eat|drink|touch|handle|stomach|tolerate)|(?:tend to |try to "
        rf"|always |usually )?avoid(?= (?:eating |drinking )?(?:{_FOODS}))|"
        rf"(?:can't|cannot|don't) (?:have|do)(?= (?:{_FOODS}))) (?:eating |drinking )?{_EATEN}{_THING_TAIL}",
        denied=True,
    ),
    en(
        "likes",
        r"(?P<list>(?!it\b|that\b|this\b|he\b|she\b|they\b|you\b|what|which|there\b|these\b|those\b|i\b"
        r"|who)[a-z][a-z' -]{1,30}?) "
        r"(?:(?:is|are) (?:really |just |so |definitely )?not (?:really )?|(?:isn't|aren't) (?:really "
        r"|exactly )?)(?:my (?:thing|cup of tea|style|jam|favou?rite)|for me)",
        denied=True,
    ),
    en(
        "likes",
        r"(?P<list>(?!it\b|that\b|this\b|he\b|she\b|they\b|you\b|what|which|there\b|these\b|those\b|i\b"
        r"|who)[a-z][a-z' -]{1,30}?) "
        r"(?:is|are) (?:totally |so |definitely |really )*my (?:jam|thing|happy place|guilty pleasure|comfort food"
        r"|weakness)",
    ),
    en(
        "likes",
        r"(?P<list>(?!it\b|that\b|this\b|he\b|she\b|they\b|you\b|what|which|these\b|those\b|i\b|who|my\b"
        r"|the\b)[a-z][a-z' -]{1,30}?) "
        r"(?:makes?|make) me (?:gag|sick|nauseous|want to puke|queasy)",
        denied=True,
        strength=Strength.STRONG,
    ),
    en("likes", rf"i (?:usually|mostly|normally|always|mainly|only) (?:drink|eat) {_EATEN}"),
    en(
        "likes",
        r"i (?:usually|mostly|normally|always|mainly|typically|generally) (?:take|ride|catch"
        r"|go by) (?:the )?(?P<list>bus|train|metro|subway|tram|ferry|bike"
        r"|tube|light rail)(?: (?:to|into) (?:work|school|the office|town|campus))?",
    ),
    en(
        "likes",
        r"i (?:usually |normally |always |mostly )?(?:commute by|get around by|go to work by) (?P<list>bus|train"
        r"|metro|subway|tram|ferry|bike|car)",
    ),
    en(
        "payment_method",
        r"i (?:(?:usually|always|mostly|normally|prefer to|like to|typically) )?pay (?:by|with|in|via"
        r"|using) (?P<value>[a-z][a-z ]{2,30}?)",
    ),
)

FAVOURITES = (
    en(
        "favourite",
        r"(?:my (?:all-time |all time |absolute )?|all[- ]time )favou?rite (?P<topic>[a-z]+(?: [a-z]+)?) (?:of all"
        r" time )?(?:is|are"
        r"|has always been|would have to be|has to be) "
        r"(?P<value>(?!when\b|because\b|that\b|to\b|how\b|what\b|you\b|probably\b)[a-z0-9][a-z0-9' -]{1,40}?)(?: "
        r"(?:because|since|by|hands) .*)?",
    ),
    en(
        "favourite",
        r"(?P<value>(?!it\b|that\b|this\b|he\b|she\b|they\b|what|which)[a-z0-9][a-z0-9' -]{1,30}?) is my (?:all-time "
        r"|all time |absolute )?favou?rite "
        r"(?P<topic>[a-z]+(?: [a-z]+)?)",
    ),
)

FOR_ONCE = (
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
        r"i'd rather (?:take|have|drink|eat|use) (?:an? |the )?(?P<list>[a-z][a-z' -]{1,40}?)(?: than .*)?(?: "
        r"(?:today|tonight"
        r"|this time))?",
        stance=Stance.ONE_OFF,
    ),
    en(
        "likes",
        r"(?:just |only )?(?:an? |some )?(?P<list>(?!it\b|that\b|this\b)[a-z][a-z' -]{1,30}?) for me(?: (?:today"
        r"|tonight|this time|please|for now))+",
        stance=Stance.ONE_OFF,
    ),
)

FROM_NOW_ON = (
    en(
        "likes",
        r"from now on,? i(?:'ll| will) (?:only |always )?(?:have|drink|eat|take|use|order) (?:an? "
        r"|the )?(?P<list>[a-z][a-z' -]{1,40}?)",
        stance=Stance.CHANGE,
    ),
)
