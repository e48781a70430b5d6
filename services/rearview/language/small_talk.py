"""Courtesies and acknowledgements: what says nothing that could be remembered."""

import re

from rearview.language.scripts import HAN, fold_width_in_place

MAX_CHARACTERS = 160
"""A longer turn says something."""

MAX_WORDS, MAX_WORDS_OF_ONE = 16, 9
"""A clause of more words (Chinese: characters) is no row of courtesies, and no courtesy in a row has more."""

_WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")
_CLAUSE_END = re.compile(r"[,，。.!！?？;；、~～…\n:：()（）-]+|\s{2,}")
# Emoji and other signs carry mood alone.
_SIGNS = re.compile(rf"[^\w\s'{HAN}]+", re.UNICODE)
_SPACE = re.compile(r"\s+")
_REPEATS = re.compile(r"(.)\1{2,}")

_EN_ADVERB = "(?:so|very|really|too|just|pretty|such|super|absolutely|totally|all|quite)"
_EN_PRAISE = (
    "(?:great|awesome|amazing|nice|cool|good|wonderful|fantastic|lovely|excellent|perfect|brilliant"
    "|beautiful|sweet|interesting"
    "|fun|funny|sad|terrible|awful|true|right|fair|impressive|incredible|neat|exciting|inspiring|adorable"
    "|cute|fine|okay|ok"
    "|wild|crazy|tough|rough)"
)
_EN_FILLER = (
    "(?:oh|wow|ah|aww?|hmm+|mm+|uh|um|well|hey|haha(?:ha)*|hehe|lol|lmao|omg|oh my"
    "|oh my god|gosh|whoa|yay|yikes|oops|phew|ugh|man)"
)
_EN_ACKNOWLEDGEMENT = (
    "(?:ok|okay|okey|k|kk|got it|i see|understood|noted|alright|all right|sure|sure thing|of course"
    "|certainly|right|gotcha|roger"
    "|will do|yep|yup|yeah|yea|uh huh|mhm|mm hmm|fine|makes sense|fair enough|exactly|absolutely"
    "|definitely|totally|indeed"
    f"|cool|great|perfect|nice|good|awesome|sounds {_EN_ADVERB}? ?(?:good|great|fun|nice|perfect|amazing"
    f"|awesome|like a plan)"
    "|no problem|no worries|np|ty|thx|thanks|cheers)"
)
_EN_COURTESY = (
    f"(?:{_EN_FILLER}"
    "|hi|hi there|hello|hello there|hey there|hiya|yo|good (?:morning|afternoon|evening|night|day)"
    "|morning|bye|bye bye|goodbye|see (?:you|ya)"
    "(?: (?:later|soon|around|then|next time))?|later|talk (?:to you )?(?:soon|later)|take care"
    "|have (?:a|an)(?: \\w+)? "
    "(?:day|night|one|time|weekend|evening)|(?:good ?night|sleep well|sweet dreams)"
    "|(?:thanks|thank you|thx|many thanks|thank u)(?: (?:so|very) much| a lot| again| a bunch| a million"
    "| so so much| for (?:asking|that|your help"
    "|the help|everything|sharing|listening|your support|letting me know|the support|the kind words|your kind words))?"
    "|i (?:really )?appreciate (?:it|that|you)|much appreciated|you'?re (?:very |most )?welcome|"
    "(?:you are|ur) welcome|welcome|my pleasure|don'?t mention it|anytime|any time"
    "|(?:and )?how (?:are|r) (?:you|u|ya)(?: (?:doing|today|doing today|feeling))?|how'?s it going"
    "|how is it going|how have you been|how'?ve you been"
    "|how about you|what about you|and you|what'?s up|sup|how do you do|how are things|how'?s everything"
    "|long time no see"
    "|nice to (?:meet|see|hear from) you|good to (?:see|hear from|meet) you|great to (?:see"
    "|hear from) you|are you (?:there|around)|anyone there|you there"
    f"|(?:that|this|it|those|these)(?:'?s| is| are| sounds| must be| must have been| looks) "
    f"(?:{_EN_ADVERB} )*{_EN_PRAISE}"
    "(?: (?:news|idea|to hear|to know))?(?: to hear(?: that| it)?)?"
    f"|(?:how|what|{_EN_ADVERB}) (?:an? )?{_EN_PRAISE}|(?:good|great|nice|bad|fair|excellent) (?:one|job"
    f"|work|idea|point|luck|news|stuff|for you|question)|well done|congrats|congratulations"
    "|(?:i'?m |i am )?(?:so |really |very )?(?:glad|happy|sorry|sad|pleased) to hear (?:that|it|this)"
    "|you too|same to you|likewise|no way|really|seriously|is that so|is it|wonderful|amazing"
    "|i know right|i hope so|hope so|you got this|you can do it|cheers|please|of course|let me know"
    "|for sure"
    f"|{_EN_PRAISE}|{_EN_ACKNOWLEDGEMENT})"
)
_ZH_PARTICLE = "[啊呀哦噢喔嗯呢吧啦哈嘛呐哟嘞滴哒了的]"
_ZH_ACKNOWLEDGEMENT = (
    f"(?:好|好好|好的|好滴|好哒|好嘞|好呀|好吧|行|行吧|可以|没问题|没事|没关系|嗯|嗯嗯|嗯呢|哦|噢|哦哦|知道|知道了|明白|明白了|了解|了解了|收到|懂了|懂|清楚了|是吗|是嘛|这样|这样子|原来如此"
    f"|原来是这样|对|对对|对的|对啊|没错|确实|当然|当然可以|不客气|不用谢|不谢|辛苦|辛苦了|好的好的|好的好|嗯好的|嗯好|哦好的|行行|我(?:知道|明白|懂|了解)了|那?就这样|ok|okay)(?:{_ZH_PARTICLE}{{0,3}})"
)
_ZH_COURTESY = (
    "(?:你好|您好|你们好|大家好|嗨|哈喽|哈啰|喂|早|早安|早上好|上午好|中午好|下午好|晚上好|晚安|再见|拜拜|拜|回见|回头见|下次见|回头聊|下次聊|在吗|在么|在不在|有人吗"
    "|你在吗|您在吗|最近怎么样|最近好吗|你好吗|吃了吗|吃了没"
    "|好久不见|谢谢|谢|谢谢你|谢谢您|谢谢啦|多谢|感谢|非常感谢|太感谢了|谢谢你的(?:帮助|关心|建议|分享)|麻烦你|麻烦了|哈+|呵呵|嘿嘿|嘻嘻|哇|哇塞|天哪|天啊|我的天|真的|真的吗"
    "|真的假的|是啊|哎|唉|哎呀|额|呃|嘿"
    "|(?:真是|真|太|好|挺|很|非常|这也太|那真是|那可|这真是|那|听起来|听上去)?(?:太|真|很|挺|非常|不)?(?:棒|厉害|牛|牛逼|赞|酷|好|有趣|有意思|好玩|可爱|不错|可惜"
    "|遗憾|好笑|搞笑|给力|优秀|强|完美|精彩)(?:极|死|爆|呆)?"
    "|加油|恭喜|恭喜你|恭喜恭喜|祝你好运|祝你顺利|保重|慢走|打扰了|不好意思|抱歉|对不起|你呢|那你呢|期待|好期待)"
    f"(?:{_ZH_PARTICLE}{{0,4}})"
)
_ACKNOWLEDGEMENT = re.compile(
    f"(?:{_EN_ACKNOWLEDGEMENT}|{_ZH_ACKNOWLEDGEMENT})(?: (?:{_EN_ACKNOWLEDGEMENT}|then|thanks|so))*", re.IGNORECASE
)
_COURTESY = re.compile(
    f"(?:{_EN_FILLER} |and |but |so )*(?:{_EN_COURTESY}|{_ZH_COURTESY}|{_ZH_ACKNOWLEDGEMENT})(?: "
    f"(?:{_EN_FILLER}|everyone|all|guys|there|buddy|dude|friend|my friend|then|today|too|though|again|man|bro|sir))*",
    re.IGNORECASE,
)


# "Thanks, Caroline!": a name after a courtesy is an address. After anything else it may be the answer to a question.
_ADDRESS = re.compile(
    r"^((?:hi|hey|hello|thanks|thank you|thx|bye|goodbye|congrats|good (?:morning|afternoon|evening|night)),? )"
    r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Jan|Febr)uary|March|April|May|June|July|August|\w+ember|October)"
    r"((?-i:[A-Z][a-z]+))(?=[!.,?]|$)",
    re.IGNORECASE,
)


def is_acknowledgement(text: str) -> bool:
    """Whether a turn only says that something was heard: "ok", "好的", "got it, thanks"."""
    clauses = _clauses(text)
    if not clauses:
        return False
    return all(_ACKNOWLEDGEMENT.fullmatch(clause) for clause in clauses)


def is_small_talk(text: str) -> bool:
    """Whether every clause of a turn is a courtesy, an exclamation or an acknowledgement; signs alone are that too."""
    clauses = _clauses(text)
    if clauses is None:
        return False
    return all(_says_nothing(clause) or _is_row(clause) for clause in clauses)


def _says_nothing(clause: str) -> bool:
    return bool(_COURTESY.fullmatch(clause) or _ACKNOWLEDGEMENT.fullmatch(clause))


def _is_row(clause: str) -> bool:
    """Whether courtesies follow each other without anything between them: "好的谢谢", "ok thank you bye"."""
    words = [word.span() for word in _WORD.finditer(clause)]
    if len(words) > MAX_WORDS:
        return False
    reached = {0}
    for first, (start, _) in enumerate(words):
        if first in reached:
            rest = enumerate(words[first : first + MAX_WORDS_OF_ONE], first + 1)
            reached.update(after for after, (_, end) in rest if _says_nothing(clause[start:end]))
    return len(words) in reached


def _clauses(text: str) -> list[str] | None:
    """The clauses of a short turn without signs; None for a turn too long, or with code or numbers in it."""
    stripped = text.strip()
    if len(stripped) > MAX_CHARACTERS:
        return None
    folded = fold_width_in_place(stripped).replace("\u2019", "'")
    folded = _ADDRESS.sub(r"\1", folded)
    clauses = (_SPACE.sub(" ", _SIGNS.sub(" ", clause)).strip() for clause in _CLAUSE_END.split(folded))
    return [_REPEATS.sub(r"\1\1", clause) if not clause.isdigit() else clause for clause in clauses if clause]
