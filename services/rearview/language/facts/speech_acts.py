"""What is done with words besides stating: asking, supposing, wishing, quoting, joking, giving examples.

Each cue has its reach: a turn, a sentence, or a clause.
"""

import re

from rearview.language.facts.cues import cue

_QUOTED = re.compile(
    '"[^"\n]{0,200}"|“[^”\n]{0,200}”|「[^」\n]{0,200}」|『[^』\n]{0,200}』'
    "|(?<![A-Za-z0-9])'[^'\n]{0,80}(?:'[a-z][^'\n]{0,80})?'(?![A-Za-z0-9])"
)

_SARCASM = cue(
    r"才怪|（反话）|\(反话\)|反讽|说反话|骗你的|开玩笑的?(?:啦|哈|呢|吧)?(?:[。！!~]|$)|逗你的|我信你个鬼|🙄|(?:^"
    r"|\s)/s\s*$",
    r"(?:^|\s)/s(?:\s|[.!]|$)|\byeah,? right\b|\bsaid no ?(?:one|body)\b|\bjust kidding\b|\bj/?k\b|\bnot really[.!]*$"
    r"|\b(?:psych|as if)[.!]*$|[.!,] not[.!]+\s*$",
    "s right said kidding jk j not psych as",
)
_SNEER = re.compile("呵呵|可真(?:爱|喜欢)|真是太爱")
_OTHERS_WORDS = cue(
    r"(?<![是做当名位个口笔])翻译(?!官|公司|工作|专业)|译成|改写|润色|造句|这句话|这段话|下面(?:的|这)(?:话|句|文)|念一?遍"
    r"|角色扮演|假装你|你扮演",
    r"\b(?:translate|rewrite|rephrase|paraphrase|proofread|summari[sz]e (?:this|the following)|role-?play"
    r"|correct (?:this|the) sentence)\b",
    "translate rewrite rephrase paraphrase proofread summarise summarize role roleplay correct",
)
_COMMISSION = cue(
    r"写(?:一|个|首|篇)[^，。]{0,12}(?:故事|小说|对话|剧本|歌词|诗)",
    r"\b(?:how do (?:you|i) say|write (?:a|an|me) [a-z ]{0,20}(?:story|poem|dialogue|script|email))\b",
    "how write",
)

_UNREAL = cue(
    "如果|假如|假设|假使|假定|要是|万一|倘若|若是|的话|好像|似乎|说不定|没准|恨不得|希望|梦想|但愿|就好了|幻想",
    r"\b(?:if|suppos(?:e|ing)"
    r"|imagine"
    r"|assum(?:e|ing)|wish|hope|hoping|unless|pretend|not sure|hypothetically|in theory"
    r"|say i|let's say"
    r"|what if|provided that)\b",
    "if suppose supposing imagine assume assuming wish hope hoping unless pretend not hypothetically in say let what"
    " provided",
)
_DOUBTED = cue(
    "可能|也许|或许",
    r"\b(?:would|could|might|may(?= (?:be|have|move|go|buy|switch|need))|maybe|perhaps|possibly|i'd(?! (?:rather|say"
    r"|call|describe|consider))|we'd"
    r"|wouldn't)\b",
    "would could might may maybe perhaps possibly d wouldn",
)
_EXAMPLE = cue(
    "比如说?|例如|譬如|举个?例子?|打个?比方|好比|诸如",
    r"\b(?:for example|for instance|e\.g|such as|let's say)|^say$",
    "example instance e such say",
)
_PAST = cue(
    "(?<![日号点月年周一二三四五六天])以前|曾经|当年|(?:我|^)原来|(?:我|^)本来|小时候|年轻时|读书时|差点|差一点"
    "|那时候?|的时候(?!.{0,4}(?:别|不要|请|麻烦|记得|千万|务必|必须|一律|尽量|一定))|上学时|在职时",
    r"\b(?:used to|when i (?:was|lived|worked|had|studied)|as a (?:kid|child|teenager)|in my (?:childhood|youth)"
    r"|back then|(?<!for )(?<!been )(?:almost|nearly)"
    r"|once upon|formerly|previously)\b",
    "used when as in back almost nearly once formerly previously",
)
# "我曾经去过" is a fact of the past that stays true.
_STAYS_TRUE = re.compile("去过")
_INTENTION = cue(
    "打算|计划|准备|考虑|想要|想换|想搬|将要",
    r"\b(?:going to|about to|plan(?:ning)? (?:to|on)|thinking (?:of|about)|considering|want to|intend to)\b",
    "going about plan planning thinking considering want intend",
)

_REPORTERS = (
    "[他她它]们?|妈妈?|爸爸?|老婆|老公|朋友|同事|老板|领导|客户|老师|医生|别人|有人|大家|人家"
    "|网上|书上|新闻上?|广告|歌词里?|电影里?|剧里|小说里?"
)
_REPORTED = cue(
    rf"(?:{_REPORTERS})(?:们|总|也|就|都|曾|刚才?)*(?:跟我|和我|对我)?(?:说|告诉|表示|问|觉得|认为|写|唱|提到)"
    r"|(?<!老实)(?<!话)(?<!我)(?<!跟你)(?<!实话)(?<!来)(?<!再)(?<!是)(?<!这么)(?<!听我)说(?:[她他我])|写道|写着|唱着|唱道"
    r"|听说|据说",
    r"\b(?!i\b|we\b)[a-z]+(?:'s)? (?:said|says|saying|told|tells|asked|asks|claims|claimed|thinks|wrote|writes"
    r"|goes(?! (?:up|down|by|to|on|off|well))"
    r"|mentioned"
    r"|insists|believes|shouted|sings|sang)\b|\baccording to\b|\bquote[,:]|\bi quote\b",
    "said says saying told tells asked asks claims claimed thinks wrote writes goes mentioned insists believes shouted"
    " sings sang"
    " according quote",
)

_ENDS_ASKING = re.compile('[?？]\\s*[)）"”]*\\s*$|[吗呢么嘛][\\s。!！~.]*$|来着[\\s。.]*$')
# "我吃素嘛" asks nothing; "你吃素嘛" does.
_SOFT = re.compile("[呢嘛][\\s。!！~.]*$")
_ZH_ASKS = re.compile(
    "什么(?!的[^，。]*不)|怎么|为什么|为啥|多少|哪[里儿个天些家种位款]|几[点号个](?!月)|谁|是不是|有没有|能不能"
    "|会不会|要不要|够不够|好不好|可不可以|行不行|是否|还是.{1,12}呢|好还是.{1,14}好"
)
_EN_ASKS = re.compile(
    r"^(?:(?:so|and|but|well|hey|ok|okay|hi)[, ]+)*(?:what|when|where|who|whom|whose|why|how|which|is|are|was|were|am"
    r"|does|did|has(?! to\b)|had"
    r"|can(?!'t (?:stand|bear|eat|do|handle|drink|have|tolerate)\b)|could|will|would|should|may|might|shall"
    r"|do(?= (?:you|i|we|they|my|the))"
    r"|have(?= (?:you|i|we|they)))\b",
    re.IGNORECASE,
)

# "I'm vegan, what can I eat?" states before it asks; "I'm vegan, aren't I?" asks for that itself.
_ASKS_ON = re.compile(
    r"(?P<stated>.+)[,，]\s*(?:(?:and|so|but) )?(?:(?:(?:what|where|which|how|who|when|why)\b(?! about\b)"
    r"|(?:can|could|would|will) you\b|(?:can|should|could) i\b|(?:is|are) there\b|is it (?:ok|okay|safe)\b"
    r"|any (?:ideas?|tips|suggestions?|recommendations?)\b|(?:will|does|would|should) (?:it|that|this|they)\b"
    r"|do i (?:need|have)\b)"
    r"|(?!.*(?:记得|知道|猜|对[吗吧]|是[吗吧]|没错|我(?:喜欢|是|叫|住|对|有)))[^,，]*(?:"
    r"(?:能|会|有|够|适合|需要|用|该)(?![这那就])[^,，]{1,12}[吗么]|可以(?![这那])[^,，]{2,12}[吗么]|够吗"
    r"|什么|(?:能|可以|有).*(?:推荐|帮|建议|介绍)|怎么|哪[里儿个些家款]|多少|为什么)).*$",
    re.IGNORECASE | re.DOTALL,
)

ONE_OFF = cue(
    "今天|今晚|今早|今儿|这次|这一次|这回|就一次|暂时|先这样",
    r"\b(?:today|tonight|this time|this once|just once|for now|for once|right now)\b",
    "today tonight this once now",
)
FROM_NOW_ON = cue(
    r"(?<![点日号天月年周后业婚休职学])以后|今后|从现在(?:起|开始)|从今(?:天起|往后|以后)|往后",
    r"\b(?:from now on|going forward|from today on|henceforth|in (?:the )?future)\b",
    "on forward henceforth future",
)
_BARE_ADVERBIAL = re.compile(
    rf"(?:(?P<one_off>(?:just |only |就|仅)*(?:{ONE_OFF.zh.pattern}|{ONE_OFF.en.pattern})(?: only)?)"
    rf"|(?P<change>(?:{FROM_NOW_ON.zh.pattern}|{FROM_NOW_ON.en.pattern})))[\s,，]*$",
    re.IGNORECASE,
)


def without_quotations(text: str) -> str:
    """Return the text with quotations blanked, offsets kept: they are somebody else's words."""
    return _QUOTED.sub(lambda match: " " * len(match.group()), text)


def is_not_meant(text: str) -> bool:
    """Whether a turn is marked as said in jest, or hands over words to work on, so that nothing in it is stated."""
    return _SARCASM.search(text) is not None or _OTHERS_WORDS.search(text) is not None


def commissions_from(text: str) -> int | None:
    """Return where a turn asks for words to be made ("write me a story"), None where it does not."""
    found = _COMMISSION.first(text)
    return found.start() if found else None


def is_unreal(sentence: str) -> bool:
    """Whether a sentence supposes, wishes or sneers instead of stating."""
    return _UNREAL.search(sentence) is not None or (not sentence.isascii() and _SNEER.search(sentence) is not None)


def supposes_from(sentence: str) -> int | None:
    """Return where a sentence begins to suppose, wish or sneer; None where it does not."""
    if not sentence.isascii() and _SNEER.search(sentence):
        return 0
    found = _UNREAL.first(sentence)
    return found.start() if found else None


def is_doubted(clause: str) -> bool:
    """Whether a clause says only what may be; the other clauses of its sentence may state."""
    return _DOUBTED.search(clause) is not None


def asks(sentence: str) -> bool:
    """Whether a sentence as a whole asks."""
    if _ENDS_ASKING.search(sentence) is None:
        return False
    soft = _SOFT.search(sentence) is not None and "我" in sentence
    return not soft or "你" in sentence or "您" in sentence or _ZH_ASKS.search(sentence) is not None


def clause_asks(clause: str) -> bool:
    """Whether a clause is worded as a question."""
    return (not clause.isascii() and _ZH_ASKS.search(clause) is not None) or _EN_ASKS.match(clause) is not None


def stated_before_asking(sentence: str) -> str:
    """Return what an asking sentence states before it comes to its question, empty where it only asks."""
    match = _ASKS_ON.match(sentence)
    return match["stated"] if match and not asks(match["stated"]) else ""


def report(sentence: str) -> re.Match[str] | None:
    """Return the words by which a sentence tells what somebody else said, None where it does not."""
    return _REPORTED.first(sentence)


def is_reported(sentence: str) -> bool:
    """Whether a sentence tells what somebody else said."""
    return _REPORTED.search(sentence) is not None


def opens_example(clause: str) -> bool:
    """Whether what follows, or the clause itself, is an example."""
    return _EXAMPLE.search(clause) is not None


def is_past(clause: str) -> bool:
    """Whether a clause speaks of what was and is no more."""
    return _PAST.search(clause) is not None and _STAYS_TRUE.search(clause) is None


def is_intention(clause: str) -> bool:
    """Whether a clause says what is meant to be."""
    return _INTENTION.search(clause) is not None


def bare_adverbial(clause: str) -> str | None:
    """`one_off` or `change` for a clause that only says when ("from now on,"), None for others."""
    match = _BARE_ADVERBIAL.match(clause)
    return match.lastgroup if match else None
