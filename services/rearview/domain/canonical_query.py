"""Whether two queries ask the same, by their canonical words alone.

Everything that is not listed as the same is a difference: a changed name, number, negation, tense, person or unit needs
no rule of its own. What may differ is the place of a time ("昨天我" / "我昨天"), of a question word with its verb
("怎么重启打印机" / "打印机怎么重启"), and of a phrase like "in Paris" that leads or ends an English query.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

TIME = "T:"
"""Begins a token that stands for a time."""
ASKING = "Q:"
"""Begins a token of an adverbial question word (how, why, when, where), which may change its place."""
PLACING = "P:"
"""Begins a preposition whose phrase may lead or end a query."""
SAYING = "S:"
"""Begins a verb of saying or thinking: a time before it is not the time of what was said."""

MAX_TOKENS = 24
MIN_CONTENT_TOKENS = 2
PAST = "+past"
"""Ends a query whose verbs are in the past, once for each."""
_OPEN = frozenset({"about", "of", "to", "from", "by"})
_MOST_AFTER_ASKING = 3
_LONGEST_PHRASE = 6
_MARKS = (TIME, ASKING, PLACING, SAYING)


@dataclass(frozen=True, slots=True)
class CanonicalQuery:
    """A query's canonical tokens in order.

    Attributes:
        tokens: what is left of its words.
        deictic: it points at what was said before ("what about it?").
        precision: `clock` or `day` where it asks for that; a plain "when" asks for either.
    """

    tokens: tuple[str, ...]
    deictic: bool = False
    precision: str = ""

    @property
    def joined(self) -> str:
        """The tokens as one text, without their marks."""
        return "".join(_bare(token) for token in self.tokens)

    @property
    def anagram(self) -> str:
        """The characters of the tokens in alphabetical order: equal for any two queries that `refusal` lets pass."""
        return "".join(sorted(self.joined))


class Refusal(StrEnum):
    """Why a query may not share another one's answer."""

    DEICTIC = "deictic"
    TOO_LONG = "too_long"
    TOO_SHORT = "too_short"
    WORDS = "words"
    ORDER = "order"


def unfit(query: CanonicalQuery) -> Refusal | None:
    """Return why a query can only be matched word for word; None if it need not be."""
    if query.deictic:
        return Refusal.DEICTIC
    if len(query.tokens) > MAX_TOKENS:
        return Refusal.TOO_LONG
    if sum(not token.startswith((ASKING, PLACING)) for token in query.tokens) < MIN_CONTENT_TOKENS:
        return Refusal.TOO_SHORT
    return None


def refusal(one: CanonicalQuery, other: CanonicalQuery) -> Refusal | None:
    """Return why two queries may not share an answer; None if by their words they ask the same."""
    reason = unfit(one) or unfit(other)
    if reason is not None:
        return reason
    if one.precision and other.precision and one.precision != other.precision:
        return Refusal.WORDS
    if one.tokens == other.tokens or one.joined == other.joined:
        return None
    if sorted(one.tokens) != sorted(other.tokens):
        return Refusal.WORDS
    return None if _times_moved(one.tokens, other.tokens) or _block_moved(one.tokens, other.tokens) else Refusal.ORDER


def hidden_token(token: str, hide: Callable[[str], str]) -> str:
    """Return a token with its word hidden. Its mark stays, and so do words that the rules look for."""
    if token == PAST or token in _OPEN or token.startswith((ASKING, PLACING)):
        return token
    mark = token[: len(TIME)] if token.startswith(_MARKS) else ""
    return mark + hide(_bare(token))


def _times_moved(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return (
        _without_times(one) == _without_times(other)
        and _times(one) == _times(other)
        and _said_before_times(one) == _said_before_times(other)
    )


def _times(tokens: tuple[str, ...]) -> list[str]:
    return [token for token in tokens if token.startswith(TIME)]


def _without_times(tokens: tuple[str, ...]) -> list[str]:
    return [token for token in tokens if not token.startswith(TIME)]


def _said_before_times(tokens: tuple[str, ...]) -> list[int]:
    # "What did Ann tell me on Monday": nothing but persons stands between, so the time is that of telling.
    end = max((at for at, token in enumerate(tokens) if token.startswith(SAYING)), default=len(tokens))
    after = [token for token in tokens[end + 1 :] if token != PAST]
    objects = [token for token in after if not token.startswith(TIME)]
    if after and after[-1].startswith(TIME) and len(objects) <= 2 and not (objects and objects[-1] in _OPEN):
        return [0] * len(_times(tokens))
    return [
        sum(earlier.startswith(SAYING) for earlier in tokens[:at])
        for at, token in enumerate(tokens)
        if token.startswith(TIME)
    ]


def _block_moved(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    # `one` is X Y and `other` is Y X, where X or Y is a question word with little after it, or a phrase. The tense
    # stays at the end, and a subject ("我") may stand before both.
    past = one.count(PAST)
    one, other = one[: len(one) - past], other[: len(other) - past]
    if _turned(one, other, _may_move):
        return True
    return one[0] == other[0] and _turned(one[1:], other[1:], _may_ask)


def _turned(one: tuple[str, ...], other: tuple[str, ...], may_move: Callable[[tuple[str, ...]], bool]) -> bool:
    return any(one[at:] + one[:at] == other and (may_move(one[:at]) or may_move(one[at:])) for at in range(1, len(one)))


def _may_move(block: tuple[str, ...]) -> bool:
    return _may_ask(block) or (block[0].startswith(PLACING) and 1 < len(block) <= _LONGEST_PHRASE)


def _may_ask(block: tuple[str, ...]) -> bool:
    return block[0].startswith(ASKING) and len(block) <= 1 + _MOST_AFTER_ASKING


def _bare(token: str) -> str:
    return token[len(TIME) :] if token.startswith(_MARKS) else token
