"""Who the people around the speaker are, and statements about them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rearview.domain.fact import PERSON, USER
from rearview.language.facts.statement import NAME_EN, TITLED_NAME_EN, ZH_PERSON
from rearview.language.facts.values import category_of, relation_key, relation_words, value_key
from rearview.language.facts.word_lists import any_of
from rearview.language.scripts import has_han

_ZH_RELATION = "|".join(re.escape(word) for word in relation_words() if has_han(word))
_EN_RELATION = "|".join(re.escape(word) for word in relation_words() if not has_han(word))
# "My wife is American" names nobody, and nobody is called by "我妹妹叫外卖了".
_NO_PERSON = re.compile(f"(?:{any_of('nationalities_en')})$|了|外卖|[了个]?车$|[一个]|起床|醒", re.IGNORECASE)
_LONG_NAME = 3
_NO_NAME = frozenset(
    [
        "the",
        "this",
        "that",
        "these",
        "those",
        "it",
        "i",
        "my",
        "we",
        "our",
        "you",
        "your",
        "he",
        "she",
        "they",
        "his",
        "her",
        "their",
        "there",
        "here",
        "what",
        "who",
        "how",
        "why",
        "when",
        "where",
        "everyone",
        "everybody",
        "someone",
        "somebody",
        "nobody",
        "anyone",
        "people",
        "today",
        "tomorrow",
        "yesterday",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "and",
        "but",
        "so",
        "or",
        "if",
        "yes",
        "no",
        "ok",
        "okay",
        "well",
        "oh",
        "hi",
        "hello",
        "hey",
        "please",
        "thanks",
        "sorry",
        "actually",
        "also",
        "maybe",
        "just",
        "not",
        "now",
        "then",
        "never",
        "always",
        "don",
        "do",
    ]
)
_ZH_RELATED = re.compile(
    f"我(?:的|家|们(?:组|班|公司|部门|家)?)?(?:里)?(?:新来的|新)?(?:大|小|二|亲)?\\s?(?P<relation>{_ZH_RELATION}"
    f"|(?:{_EN_RELATION})(?![a-z]))(?P<rest>.+)",
    re.DOTALL,
)
_BARE_KIN = re.compile(
    "(?:老公|老婆|媳妇|儿子|女儿|闺女|男朋友|女朋友|男友|女友|婆婆|公公|岳母|岳父|丈母娘|室友|闺蜜|(?:bf|gf|boyfriend"
    "|girlfriend|husband|wife)(?![a-z]))\\s?"
    "(?=[对不喜爱在是有住叫会姓最也特今刚][^，。]|[0-9一二三四五六七八九十]{1,3}岁)"
    r"|(?:hubby|husband|wife|boyfriend|girlfriend|son|daughter|mom|dad|roommate)(?='s (?:an?|allergic|vegan)\b"
    r"| (?:is|has|loves|hates|likes|works|lives|can't|doesn't)\b)",
    re.IGNORECASE,
)
_EN_SUCH_A = (
    "(?:(?:best|older|younger|big|little|elder|eldest|oldest|youngest|middle|twin|new|baby|dear|direct|thesis|personal"
    "|good|close) )*"
)
_ZH_NAMED = re.compile(f"{ZH_PERSON}", re.DOTALL)
_ZH_NAME_THEN = re.compile(f"(?P<name>{ZH_PERSON}|{NAME_EN})(?P<rest>.*)", re.DOTALL)
_EN_RELATED = re.compile(
    rf"(?:my|our) {_EN_SUCH_A}(?P<relation>{_EN_RELATION})(?P<possessive>'s)?(?![a-z])"
    rf"(?:,? (?P<name>{TITLED_NAME_EN}),?(?P<name_possessive>'s)?(?![a-z']))?(?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
_EN_NAMED = re.compile(rf"(?P<name>{NAME_EN})(?P<possessive>'s)?(?P<rest> .+)", re.DOTALL)
_ZH_CALLED = re.compile(
    f"\\s?(?:的?(?:大名|小名|名字|姓名))?(?:叫|是(?=\\s?(?:{ZH_PERSON}(?:教授|老师|医生|律师)?|{NAME_EN})\\s*$))\\s?"
    f"(?P<name>{ZH_PERSON}(?:教授|老师|医生|律师)?|{NAME_EN}"
    f"|(?![我你您他她什做去来])[\u4e00-\u9fff]{{2,3}})(?<![去来做办走说看买吃])\\s*$"
)
_EN_CALLED = re.compile(
    rf"\s*(?:name )?(?:(?:'s|is) (?:an? )?(?:(?:guy|man|woman|girl|boy|dude|lady) )?)?(?:(?:called|named) )?"
    rf"(?P<name>{TITLED_NAME_EN})\s*$",
    re.IGNORECASE,
)
_ZH_IS_MINE = re.compile(f"(?P<name>{ZH_PERSON}|{NAME_EN})是我的?(?P<relation>{_ZH_RELATION})\\s*$")
_EN_IS_MINE = re.compile(
    rf"(?P<name>{TITLED_NAME_EN})(?: is|'s) my {_EN_SUCH_A}(?P<relation>{_EN_RELATION})\s*$", re.IGNORECASE
)
_ZH_HAS = re.compile(
    f"我(?:还)?有(?:一|两)?[个位](?P<relation>{_ZH_RELATION})(?:名字)?叫(?P<name>{ZH_PERSON}|{NAME_EN}"
    f"|[\u4e00-\u9fff]{{2,3}})\\s*$"
)
_EN_HAS = re.compile(
    rf"(?:i|we)(?:'ve got| have|'ve) an? {_EN_SUCH_A}(?P<relation>{_EN_RELATION}) (?:named|called)"
    rf" (?P<name>{NAME_EN})\s*$",
    re.IGNORECASE,
)
_HAS_ONE = re.compile(
    rf"(?:我(?:还)?有(?:一|两)?[个位]|(?:i|we)(?:'ve got| have|'ve) an? {_EN_SUCH_A})"
    rf"(?P<relation>{_ZH_RELATION}|{_EN_RELATION})$",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"^\s*(?:跟我|和我|对我)?(?:说|告诉我|提到|表示)过?[:：,，]?\s*(?:[他她](?=.))"
    r"|^ (?:said|says|told me|tells me|mentioned)(?: that)? (?:he|she|they)\b",
    re.IGNORECASE,
)
_EN_THIRD_VERB = re.compile(
    r"^ (?:also |really |just |still |now |always |usually )*(?P<verb>lives|works|likes|loves|hates|enjoys|prefers"
    r"|drinks|eats|drives"
    r"|owns|speaks|studies|weighs|wears|dislikes|detests|takes|pays|earns|makes|rides|has|is|was|doesn't|does|isn't"
    r"|uses|plays|teaches|goes|keeps|suffers|comes|follows|earns|rents|attends|majors|avoids|adores|can't)\b"
)
_EN_OTHER_VERB = re.compile(
    r"^ (?:also |really |just |recently |can |can't |cannot |never |already )*(?:moved|switched|bought|sold|quit"
    r"|joined|graduated|turned|got|became"
    r"|grew|majored|speak|eat|drink|left|changed|adopted)\b"
)
_EN_GOES_ON = re.compile(
    r"(?:now |also |really )?(?:lives|works|studies|is (?:now )?an?|is (?=allergic|vegan|vegetarian|married|single"
    r"|[0-9])"
    r"|loves|likes|hates|has|drives|owns|speaks|prefers|enjoys|drinks|eats|doesn't|can't)\b",
    re.IGNORECASE,
)
_NEW_LIFE = re.compile(
    f"(?!周[末一二三四五六日天]|[夏秋]天|高[中考])(?P<zh>我|{ZH_PERSON}|{NAME_EN} ?)?"
    "(?:最近|刚刚?|上个?月|上周|去年|今年|又)*"
    "(?:换了?一?[份个]?新?(?:工作|岗位?|公司)|跳槽|转行|转岗|转学|搬家)了?"
    rf"|(?P<en>[Ii]|{NAME_EN})(?: has| have|'s|'ve)? (?:just |recently )*"
    r"(?:(?:changed|switched) (?:jobs?|careers?|roles?)|got a new job|moved(?: house| home)?)",
)
_PRONOUN = re.compile(r"[他她](?!们|的|说)|(?:he|she)(?='s |\s)|who(?=\s)", re.IGNORECASE)
_IS_WHAT = re.compile(
    r" (?:an?|not|allergic|vegan|vegetarian|pescatarian|keto|gluten[- ]free|lactose|diabetic|asthmatic|retired|from"
    r"|really|also|always|obsessed|into|married|single|currently|still"
    r"|[0-9]+$)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_VERBS = {
    "has": "have", "is": "am", "isn't": "am not", "doesn't": "don't", "does": "do", "studies": "study", "was": "was",
    "teaches": "teach", "goes": "go",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Named:
    """A relation with a name: "my sister Lin Yue"."""

    relation: str
    name: str


@dataclass(frozen=True, slots=True)
class Retold:
    """What a clause says of another person, in the first person, so that the same rules read it."""

    subject: str
    clause: str


def named_relations(clause: str) -> Iterator[Named]:
    """The relations that a clause gives a name to; "我女朋友是老师" gives none."""
    return (
        named
        for named in _named_relations(clause)
        if category_of(named.name) != "occupation"
        and not relation_key(named.name)
        and _NO_PERSON.match(named.name) is None
    )


def _named_relations(clause: str) -> Iterator[Named]:
    for pattern in (_ZH_IS_MINE, _EN_IS_MINE, _ZH_HAS, _EN_HAS):
        if mine := pattern.match(clause):
            yield Named(mine["relation"], mine["name"])
            return
    if (related := _ZH_RELATED.match(clause)) is not None:
        if called := _ZH_CALLED.match(related["rest"]):
            yield Named(related["relation"], called["name"])
        elif (name := _leading_name(related["rest"])) is not None:
            yield Named(related["relation"], name)
    elif (related := _EN_RELATED.match(clause)) is not None:
        if related["name"]:
            yield Named(related["relation"], related["name"])
        elif called := _EN_CALLED.match(related["rest"]):
            yield Named(related["relation"], called["name"])


def retold(clause: str) -> Iterator[Retold]:
    """Readings of a clause as something said of another person, likeliest first; each may turn out to be none."""
    if (related := _ZH_RELATED.match(clause)) is not None:
        rest = related["rest"]
        if (named := _ZH_NAME_THEN.match(rest)) is not None:
            for name in _name_lengths(rest, named):
                yield from _zh_retold(name, rest[len(name) :])
        yield from _zh_retold(relation_key(related["relation"]) or related["relation"], rest)
    elif (related := _EN_RELATED.match(clause)) is not None:
        who = related["name"] or relation_key(related["relation"]) or related["relation"]
        if related["relation"].lower() == "parents":
            yield Retold(person(who), "I" + related["rest"])
            return
        yield from _en_retold(who, bool(related["possessive"] or related["name_possessive"]), related["rest"])
    elif clause[:1] != "我" and (named := _ZH_NAME_THEN.match(clause)) is not None and has_han(clause):
        for name in _name_lengths(clause, named):
            if name.split(" ")[0].lower() not in _NO_NAME:
                yield from _zh_retold(name, clause[len(name) :])
    elif (english := _EN_NAMED.match(clause)) is not None and english["name"].split(" ")[0].lower() not in _NO_NAME:
        yield from _en_retold(english["name"], bool(english["possessive"]), english["rest"])


def is_about_somebody(clause: str) -> bool:
    """Whether a clause speaks of a relation of the speaker's."""
    return _ZH_RELATED.match(clause) is not None or _EN_RELATED.match(clause) is not None


def of_kin(clause: str) -> str:
    """Return "老婆不吃辣" as "我老婆不吃辣", for whose relation it is need not be said; other clauses as they are."""
    if _BARE_KIN.match(clause) is None:
        return clause
    return f"我{clause}" if has_han(clause) else f"my {clause}"


def introduced(clause: str) -> bool:
    """Whether a clause says that the speaker has somebody, and no more: "I have a brother"."""
    return _HAS_ONE.match(clause) is not None


def subject_of(clause: str) -> str | None:
    """Return the subject of a clause that speaks of a relation of the speaker's, None for others."""
    related = _HAS_ONE.match(clause) or _ZH_RELATED.match(clause) or _EN_RELATED.match(clause)
    return person(related["relation"]) if related else None


def person(name: str) -> str:
    """Return the subject of what is said of a person."""
    return f"{PERSON}/{relation_key(name) or value_key(name)}"


def told_on(subject: str, clause: str, *, named: bool) -> str | None:
    """Return in the first person what a clause says of somebody told of before ("he hates ..."), None for others.

    `named` where the speaker has said whose name it is; a name that is only guessed at by its surname may be nobody's.
    """
    if (pronoun := _PRONOUN.match(clause)) is None:
        return None
    rest = clause[pronoun.end() :]
    who = subject.removeprefix(f"{PERSON}/")
    if not has_han(pronoun.group()):
        readings = _en_retold(who, False, rest)
    elif named or relation_key(who):
        readings = _zh_retold(who, rest)
    else:
        return None
    return next((reading.clause for reading in readings), None)


def went_on(subject: str, clause: str) -> str | None:
    """Return in the first person an English clause that goes on about somebody ("... and lives in Oslo"), None for
    others."""
    if _EN_GOES_ON.match(clause) is None:
        return None
    return next((one.clause for one in _en_retold(subject.removeprefix(f"{PERSON}/"), False, f" {clause}")), None)


def newly(clause: str) -> str | None:
    """Return whose life a clause says has changed, without saying how ("王芳换工作了"); None for other clauses."""
    match = _NEW_LIFE.fullmatch(clause)
    if match is None:
        return None
    who = (match["zh"] or match["en"] or "").rstrip()
    if who in ("", "我", "I", "i"):
        return USER
    return None if who.split(" ")[0].lower() in _NO_NAME else person(who)


def _name_lengths(text: str, match: re.Match[str]) -> Iterator[str]:
    whole = match["name"]
    if has_han(whole) and len(whole) == _LONG_NAME:
        # Of "李明对花生过敏" the name ends where a verb can begin.
        if whole[-1] in _NO_NAMES_END:
            yield whole[:-1]
            return
        short_first = _AFTER_NAME.match(text[_LONG_NAME - 1 :]) is not None
        yield from (whole[:-1], whole) if short_first else (whole, whole[:-1])
    else:
        yield whole


def _leading_name(rest: str) -> str | None:
    """The name after a relation: "同事周敏喜欢": of two and three characters the one before a known verb."""
    match = _ZH_NAMED.match(rest)
    if match is None:
        return None
    whole = match.group()
    for name in (whole[:2], whole):
        if len(name) > 1 and _AFTER_NAME.match(rest[len(name) :]):
            return name
    return None


_AFTER_NAME = re.compile("[,，]?(?:喜欢|讨厌|不|住|在|对|是|有|会|养|的|说|今年|爱|搬|从|也|最|去|叫|$)")
_NO_NAMES_END = "用换买做当改"
"""Verbs that end no name: of 王芳用 the name is 王芳."""


def _zh_retold(who: str, rest: str) -> Iterator[Retold]:
    if said := _SAID.match(rest):
        rest = rest[said.end() :]
    if rest.startswith(" ") and not has_han(rest.lstrip()[:1]):
        yield from _en_retold(who, False, rest)
        return
    yield Retold(person(who), "我" + rest.lstrip())


def _en_retold(who: str, possessive: bool, rest: str) -> Iterator[Retold]:
    if possessive and _IS_WHAT.match(rest):
        # "My husband's a firefighter" says what he is.
        rest = f" is{rest}"
    elif possessive:
        yield Retold(person(who), "my" + rest)
        return
    if said := _SAID.match(rest):
        rest = rest[said.end() :]
    if rest.startswith("'s "):
        rest = " is " + rest[3:]
    if verb := _EN_THIRD_VERB.match(rest):
        word = verb["verb"]
        first = _VERBS.get(word, word.removesuffix("s"))
        yield Retold(person(who), f"I{rest[: verb.start('verb')]}{first}{rest[verb.end('verb') :]}")
    elif _EN_OTHER_VERB.match(rest):
        yield Retold(person(who), "I" + rest)
