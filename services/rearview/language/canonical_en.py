"""Canonical words of the English parts of a query."""

from collections.abc import Sequence
from functools import lru_cache

from rearview.domain.canonical_query import ASKING, PAST, PLACING, SAYING, TIME, CanonicalQuery
from rearview.language.data_files import load_yaml

WHAT = "what"
_NUMBERS_TEXT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_NUMBERS = {word: value for value, word in enumerate(_NUMBERS_TEXT.split())} | _TENS
_MULTIPLES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_CONTRACTED = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "i'm": "i am",
    "where'd": "where did",
    "let's": "let us",
    "ain't": "is not",
}
_AFTER_PRONOUN = {"'d": "would", "'ll": "will", "'ve": "have", "'re": "are"}
_IS_AFTER = frozenset({"what", "who", "where", "when", "why", "how", "that", "there", "it", "he", "she", "here"})
_WEEKDAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_MONTHS_TEXT = "january february march april may june july august september october november december"
_MONTHS = frozenset(_MONTHS_TEXT.split())
_WHICH_WEEK = frozenset({"last", "this", "next"})
_DETERMINERS = frozenset({"this", "that", "these", "those"})
# After a determiner, these do not say what is meant.
_NO_NOUNS_TEXT = (
    "is are was were am be been do does did have has had and or but to in on at for from about with of by not one ones"
    " can could should would will may must i we you he she they it so too then"
)
_NO_NOUNS = frozenset(_NO_NOUNS_TEXT.split())
_PRONOUNS = frozenset({"i", "we", "you", "he", "she", "they"})
_MODALS = frozenset({"can", "could", "should", "will", "would", "must", "may"})
_RELATIVES = frozenset({"i", "we", "you"})
_LONGEST_HEAD = 2
_ASKED_BY_WHEN = frozenset({"time", "date", "day", "year", "age"})
_TO_BE = frozenset({"is", "are", "was", "were"})


class _Lexicon:
    def __init__(self) -> None:
        words = load_yaml("cache_lexicon.yaml")["en"]
        self.frames = _phrases(words["frames"])
        self.after_frames = frozenset(words["after_frames"])
        self.ends = _phrases(words["ends"])
        self.dropped = frozenset(words["dropped"])
        self.placing = frozenset(words["placing"])
        self.saying = frozenset(words["saying"])
        self.deictic = frozenset(words["deictic"])
        self.deictic_starts = _phrases(words["deictic_starts"])
        self.not_deictic = {tuple(phrase.split()): () for phrase in words["not_deictic"]}
        self.asking = {tuple(form.split()): name for name, forms in words["asking"].items() for form in forms}
        self.precision = {form: name for form, name in self.asking.items() if name in ("clock", "day")}
        self.asking |= dict.fromkeys(self.precision, "when")
        self.which = frozenset(words["which"])
        self.times = {tuple(phrase.split()) for phrase in words["times"]}
        self.same = {tuple(form.split()): first for first, *others in words["same"] for form in (first, *others)}
        self.irregular = {
            str(form): str(base) for base, forms in load_yaml("irregular_en.yaml").items() for form in forms
        }
        self.past = {_past(verb): verb for verb in words["regular"]}
        self.longest = max(map(len, (*self.asking, *self.times, *self.same)))


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    return _Lexicon()


def english_tokens(words: Sequence[str]) -> CanonicalQuery:
    """Return lower-case words in canonical ones.

    `words` may hold numbers, codes, symbols and tokens that are canonical already, which stay.
    """
    lexicon = _lexicon()
    plain = _expanded(words)
    plain, framed = _without_frames(plain, lexicon)
    plain = _without_ends(plain, lexicon)
    deictic = _is_deictic(plain, lexicon)
    plain, past = _present(_asked_plainly(plain), lexicon)
    plain = _without_what_is(plain, framed=framed)
    tokens, precision = _tokens(_with_numbers(plain), lexicon)
    return CanonicalQuery((*tokens, *(PAST,) * past), deictic, precision)


def _asked_plainly(words: list[str]) -> list[str]:
    """ "am I able to" is "can I", "I can" asks what "can I" asks, "what is X called" asks for X's name, and a
    preposition before its "which" stands at the end as well."""
    if words[0] in ("am", "is", "are") and "able" in words and words[words.index("able") + 1 :][:1] == ["to"]:
        at = words.index("able")
        words = ["can", *words[1:at], *words[at + 2 :]]
    for at in range(len(words) - 1):
        if words[at] in _PRONOUNS and words[at + 1] in _MODALS:
            words = [*words[:at], words[at + 1], words[at], *words[at + 2 :]]
    if words[0] == WHAT and words[1:2] == ["is"] and words[-1] == "called":
        words = [*words[:-1], "name"]
    leads = words[0] in ("in", "on", "at", "for", "with") and words[1:2] in ([WHAT], ["which"])
    if leads and len(words) > 3 and words[2] not in _ASKED_BY_WHEN:
        words = [*words[1:], words[0]]
    return words


def _expanded(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if word in _CONTRACTED:
            found += _CONTRACTED[word].split()
        elif word.endswith("n't"):
            found += [word[:-3], "not"]
        elif word[-3:] in _AFTER_PRONOUN:
            found += [word[:-3], _AFTER_PRONOUN[word[-3:]]]
        elif word[-2:] in _AFTER_PRONOUN:
            found += [word[:-2], _AFTER_PRONOUN[word[-2:]]]
        elif word.endswith("'s"):
            found += [word[:-2], "is"] if word[:-2] in _IS_AFTER else [word[:-2]]
        else:
            found.append(word.rstrip("'"))
    return [word for word in found if word]


def _without_frames(words: list[str], lexicon: _Lexicon) -> tuple[list[str], bool]:
    framed = False
    while True:
        frame = next((f for f in lexicon.frames if tuple(words[: len(f)]) == f and len(f) < len(words)), None)
        if frame is None:
            break
        words, framed = words[len(frame) :], framed or len(frame) > 1
    if framed and len(words) > 1 and words[0] in lexicon.after_frames:
        words = words[1:]
    return words, framed


def _without_ends(words: list[str], lexicon: _Lexicon) -> list[str]:
    while True:
        end = next((e for e in lexicon.ends if tuple(words[-len(e) :]) == e and len(e) < len(words)), None)
        if end is None:
            return words
        words = words[: -len(end)]


def _is_deictic(words: list[str], lexicon: _Lexicon) -> bool:
    if any(tuple(words[: len(start)]) == start for start in lexicon.deictic_starts):
        return True
    at = 0
    while at < len(words):
        harmless = next((p for p in lexicon.not_deictic if tuple(words[at : at + len(p)]) == p), None)
        if harmless:
            at += len(harmless)
            continue
        relative = words[at] == "that" and at > 0 and at + 1 < len(words) and words[at + 1] in _RELATIVES
        determines = words[at] in _DETERMINERS and at + 1 < len(words) and words[at + 1] not in _NO_NOUNS
        if words[at] in lexicon.deictic and not relative and not determines:
            return True
        at += 1
    return False


def _present(words: list[str], lexicon: _Lexicon) -> tuple[list[str], int]:
    """Put verbs into their base form and count how many were in the past, "did" and "was" among them."""
    found: list[str] = []
    past = 0
    for at, word in enumerate(words):
        if word == "did":
            past += 1
        elif word in ("have", "has") and any(_is_past(later, lexicon) for later in words[at + 1 : at + 4]):
            continue  # "where have I parked" asks what "where did I park" asks
        elif word in ("was", "were"):
            past += 1
            found.append("is")
        elif word in lexicon.irregular and word not in _WEEKDAYS:
            past += 1
            found.append(lexicon.irregular[word])
        elif word in lexicon.past:
            past += 1
            found.append(lexicon.past[word])
        elif word == "that" and at > 0 and at + 1 < len(words) and words[at + 1] in _RELATIVES:
            continue
        else:
            found.append(word)
    return found, past


def _is_past(word: str, lexicon: _Lexicon) -> bool:
    return word in lexicon.past or (word in lexicon.irregular and word not in ("did", "had"))


def _without_what_is(words: list[str], *, framed: bool) -> list[str]:
    """ "what is X" asks for X, and so does "what X is" after a frame; "the Y of X" and "what Y is X" ask for X's Y."""
    if len(words) > 2 and words[0] in (WHAT, "which") and words[1] in _TO_BE:
        words = words[2:]
    elif framed and len(words) > 2 and words[0] == WHAT and words[-1] in _TO_BE:
        words = words[1:-1]
    elif words[0] == "the" and len(words) > 1:
        words = words[1:]
    elif len(words) > 3 and words[0] in (WHAT, "which") and words[2] in _TO_BE and words[1] not in _ASKED_BY_WHEN:
        return [*words[3:], words[1]]
    else:
        return words
    if words.count("of") != 1:
        return words
    at = words.index("of")
    head = [word for word in words[:at] if word != "the"]
    if not 1 <= len(head) <= _LONGEST_HEAD or not words[at + 1 :]:
        return words
    return [*words[at + 1 :], *head]


def _with_numbers(words: list[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if word in _NUMBERS:
            found.append(str(_NUMBERS[word]))
        elif word in _MULTIPLES and found and found[-1].isdigit():
            found[-1] = str(int(found[-1]) * _MULTIPLES[word])
        else:
            found.append(word)
    return found


def _tokens(words: list[str], lexicon: _Lexicon) -> tuple[list[str], str]:
    words = [_each(words, at) for at in range(len(words))]
    found: list[str] = []
    precision = ""
    at = 0
    while at < len(words):
        token, length = _phrase(words, at, lexicon)
        precision = lexicon.precision.get(tuple(words[at : at + length]), precision)
        if token:
            found.append(token)
        at += length
    return found, precision


def _each(words: list[str], at: int) -> str:
    # "ten km a day" is "ten km every day".
    periods = ("day", "week", "month", "year")
    return "every" if words[at] == "a" and at > 0 and at + 1 < len(words) and words[at + 1] in periods else words[at]


def _phrase(words: list[str], at: int, lexicon: _Lexicon) -> tuple[str, int]:
    timed = _time(words, at, lexicon)
    if timed:
        return timed
    for length in range(min(lexicon.longest, len(words) - at), 0, -1):
        phrase = tuple(words[at : at + length])
        if phrase in lexicon.asking:
            return f"{ASKING}{lexicon.asking[phrase]}", length
        same = lexicon.same.get(phrase) or lexicon.same.get(tuple(map(_singular, phrase)))
        if same:
            return (f"{SAYING}{same}" if same in lexicon.saying else same), length
    word = words[at]
    if word in lexicon.dropped:
        return "", 1
    if word in lexicon.which:
        return WHAT, 1
    word = _singular(word)
    if word in lexicon.placing:
        return f"{PLACING}{word}", 1
    return (f"{SAYING}{word}" if word in lexicon.saying else word), 1


def _time(words: list[str], at: int, lexicon: _Lexicon) -> tuple[str, int] | None:
    start = at + (words[at] in ("in", "on", "at", "for") and at + 1 < len(words))
    word = words[start]
    if word in _WHICH_WEEK and start + 1 < len(words) and words[start + 1] in _WEEKDAYS | _MONTHS:
        return f"{TIME}{word} {words[start + 1]}", start + 2 - at
    if word in _WEEKDAYS:
        part = words[start + 1] if start + 1 < len(words) and words[start + 1] in _DAY_PARTS else ""
        return f"{TIME}{word} {part}".rstrip(), start + 1 + bool(part) - at
    if len(word) == 4 and word.isdigit() and word[:2] in ("19", "20") and start > at:
        return f"{TIME}{word}", start + 1 - at
    if word.replace(":", "").isdigit() and start + 1 < len(words) and words[start + 1] in ("am", "pm"):
        return f"{TIME}{word} {words[start + 1]}", start + 2 - at
    if start + 2 < len(words) and word == "the" and words[start + 2] == "quarter":
        return f"{TIME}{words[start + 1]} quarter", start + 3 - at
    for length in range(min(3, len(words) - at), 0, -1):
        phrase = tuple(words[at : at + length])
        if phrase in lexicon.times:
            return f"{TIME}{' '.join(phrase)}", length
    return None


_DAY_PARTS = frozenset({"morning", "afternoon", "evening", "night"})


def _singular(word: str) -> str:
    if len(word) <= 3 or not word.isascii() or not word.isalpha() or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("shes", "ches", "xes", "sses", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def _past(verb: str) -> str:
    doubled = frozenset({"plan", "stop", "prefer", "cancel"})
    if verb in doubled:
        return verb + verb[-1] + "ed"
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


def _phrases(texts: Sequence[str]) -> list[tuple[str, ...]]:
    return sorted((tuple(text.split()) for text in texts), key=lambda phrase: -len(phrase))
