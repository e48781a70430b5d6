"""One spelling for equal values, across language, case, number and alias."""

import re
from collections.abc import Iterator
from functools import lru_cache

from rearview.domain.text import EntityType
from rearview.language.aliases import canonical, common_words, kind_of, normalised
from rearview.language.data_files import load_yaml

MAX_VALUE_CHARACTERS = 60
_ARTICLE = re.compile(
    r"^(?:a (?:little bit of|little|bit of|lot of)|an?(?: (?:brand )?(?:new|used))?"
    r"|(?:brand )?(?-i:new(?= [a-z])(?! (?:york|delhi|zealand|orleans|jersey|england|mexico|hampshire)))|the"
    r"|some|fluent|my|our)\s+",
    re.IGNORECASE,
)
_SOME = re.compile(r"^(?:a (?:little bit of|little|bit of|lot of)|some|fluent)\s+", re.IGNORECASE)
_ZH_VERB = re.compile("^(?:去|坐|用)?(?:[吃喝看听玩用坐住])(?=..|[茶酒水鱼辣虾书肉面糖姜葱蒜奶蛋蟹藕鸭鹅])")
_EN_VERB = re.compile(
    r"^(?:to )?(?:drink(?:ing)?|eat(?:ing)?|watch(?:ing)?|listen(?:ing)? to|play(?:ing)?|having|tak(?:e|ing)|us(?:e"
    r"|ing))"
    r" (?:the )?(?=.)",
    re.IGNORECASE,
)
_ZH_PARTICLE = re.compile("(?:了|啊|呢|吧|啦|哦|呀)+$")
_LIST = re.compile(r"\s*(?:、|，|,\s*and\s|,|和|跟|以及|还有|\sand\s|\s&\s)\s*")
# After a comma (or "and") a clause of its own begins with who or what it is about; a thing of a list does not.
_OWN_CLAUSE = re.compile(
    r"(?:\s*[,，;；]\s*(?:and\s|so\s|but\s)?|\sand\s)\s*(?:my|i|it|its|they|he|she|we|you|this|that|which|who|because"
    r"|since|as|so"
    r"|please|even|but|especially|if|when|whenever|there)\b.*|\s*[,，;；]\s*(?:我|它|他|她|会|喉咙|一[吃喝碰闻]|所以"
    r"|因为|请).*",
    re.IGNORECASE | re.DOTALL,
)
_MAX_ITEM_CHARACTERS, _MAX_ITEM_BLANKS = 24, 2
_NAMED = re.compile(r"([^()]{1,40}) \(([^()]{1,40})\)")
_TRAILING_DE = re.compile("(?<=..)的$")
_EDGES = " .'\"《》“”‘’「」"
_KEPT_PLURAL = 4


def tidy(written: str) -> str:
    """Return a value as it is kept: without particles, quotes and the article."""
    return _ARTICLE.sub("", _ZH_PARTICLE.sub("", written.strip(_EDGES)).strip(_EDGES)).strip()


def tidy_thing(written: str) -> str:
    """Return what a preference is for: "喝美式" is for 美式, "drinking tea" for tea."""
    said = tidy(written)
    bare = _ZH_VERB.sub("", said)
    if normalised(said) in _spellings() and normalised(bare) not in _spellings():
        # "打篮球" and "看书" are activities as they stand.
        bare = said
    return tidy(_EN_VERB.sub("", bare))


def value_key(value: str) -> str:
    """Return the form that equal values share; an unknown value's own, in lower case and plain width."""
    if named := _NAMED.fullmatch(value):
        return f"{value_key(named[1])} ({normalised(named[2])})"
    plain = normalised(tidy(value))
    return next((known for form in _forms(plain) if (known := _known(form))), canonical(plain))


def category_of(value: str) -> str | None:
    """Return the sort of thing a common value is (`drink`, `seat`), None for others."""
    return _categories().get(value_key(value))


def words_of_category(category: str) -> tuple[str, ...]:
    """Every word for a sort of common values (`language`), the longest first."""
    words = {normalised(str(name)) for names in load_yaml("fact_values.yaml")[category] for name in names}
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


def is_place(name: str) -> bool:
    """Whether a name is a known one of a place."""
    return kind_of(name) is EntityType.PLACE or normalised(name).removesuffix("市") in _regions()


@lru_cache(maxsize=1)
def _regions() -> frozenset[str]:
    return frozenset(load_yaml("fact_words.yaml")["regions_zh"])


def place_names() -> tuple[str, ...]:
    """Every known name of a place, in small letters, the longest first; those that are words as well are none."""
    names = {normalised(str(name)) for line in load_yaml("aliases.yaml")["places"] for name in line} - common_words()
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


def sort_words() -> tuple[str, ...]:
    """Every word for a sort of things of which several are known, the longest first."""
    words = [word for word, key in _spellings().items() if key in _sorts()]
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


def kinds_of(sort: str, *, besides: str) -> list[str]:
    """Return the keys of a sort's values but one; with the sort's own key where that one is of another sort."""
    key = value_key(sort)
    kinds = _sorts().get(key, ())
    return [*(() if besides in kinds else (key,)), *(kind for kind in kinds if kind != besides)]


def relation_key(word: str) -> str | None:
    """Return the canonical relation that a word names, None for words that name none."""
    return _relations().get(normalised(word))


def relation_words() -> tuple[str, ...]:
    """Every word for a relation, the longest first."""
    return tuple(sorted(_relations(), key=lambda word: (-len(word), word)))


def things(written: str) -> list[str]:
    """The items of a list of short things; "helping people and making friends" is one thing.

    A clause of its own after them is none of them: "shellfish, my throat swells up".
    """
    listed = _OWN_CLAUSE.sub("", written) or written
    items = [_SOME.sub("", item) for item in _LIST.split(listed) if item]
    short = all(len(item) <= _MAX_ITEM_CHARACTERS and item.count(" ") <= _MAX_ITEM_BLANKS - 1 for item in items)
    return items if short and items else [listed]


def _forms(plain: str) -> Iterator[str]:
    yield plain
    yield _TRAILING_DE.sub("", plain)
    if plain.endswith("s") and len(plain) >= _KEPT_PLURAL:
        yield plain[:-1]
        yield plain[:-2]


def _known(form: str) -> str | None:
    found = _spellings().get(form)
    return canonical(form) if found is None and kind_of(form) is not None else found


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    return {
        normalised(str(name)): normalised(str(names[0]))
        for category, lines in load_yaml("fact_values.yaml").items()
        if category != "relation"
        for names in lines
        for name in names
    }


@lru_cache(maxsize=1)
def _sorts() -> dict[str, tuple[str, ...]]:
    return {str(sort): tuple(map(str, kinds)) for sort, kinds in load_yaml("sorts.yaml").items()}


@lru_cache(maxsize=1)
def _categories() -> dict[str, str]:
    return {
        normalised(str(names[0])): str(category)
        for category, lines in load_yaml("fact_values.yaml").items()
        if category != "relation"
        for names in lines
    }


@lru_cache(maxsize=1)
def _relations() -> dict[str, str]:
    return {
        normalised(str(name)): normalised(str(names[0]))
        for names in load_yaml("fact_values.yaml")["relation"]
        for name in names
    }
