"""Near duplicates: MinHash signatures to find candidates, exact Jaccard of character n-grams to confirm them.

Texts that differ in wording alone scored .86 to .89, texts with different facts at most .71, so 0.8 parts them.
"""

import hashlib
import re

from rensa import RMinHash

from rearview.language.scripts import fold_width, has_han
from rearview.language.statement_difference import adds_words, difference, numbers

CONFIRM_AT = 0.8
"""Two texts are near duplicates from this Jaccard similarity of their n-grams on."""

SIGNATURE_SIZE = 128
_SEED = 20_240_815
_ZH_N, _EN_N = 2, 3
_NOISE = re.compile(r"[\W_]+")

_BANDS, _BAND_SIZE = 18, 7
"""Texts of Jaccard similarity .8 share a band 98.6 times in 100, texts of .5 thirteen times."""

MAX_CHARACTERS = 20_000


def shingles(text: str) -> frozenset[str]:
    """Character bigrams of a text with Chinese, trigrams of any other; case, width, blanks and punctuation apart."""
    n, plain = _folded(text[:MAX_CHARACTERS])
    if len(plain) <= n:
        return frozenset((plain,)) if plain else frozenset()
    return frozenset(plain[at : at + n] for at in range(len(plain) - n + 1))


def _folded(text: str) -> tuple[int, str]:
    folded = fold_width(text).lower()
    n = _ZH_N if has_han(folded) else _EN_N
    return n, _NOISE.sub(" " if n == _EN_N else "", folded).strip()


def same_words(first: str, second: str) -> bool:
    """Whether two texts are the same but for case, width, blanks and punctuation; two without words never are."""
    _, mine = _folded(first)
    return bool(mine) and mine == _folded(second)[1]


def signature(text: str) -> tuple[int, ...]:
    """SIGNATURE_SIZE unsigned 32-bit values; equal for equal texts on every machine."""
    minhash = RMinHash(num_perm=SIGNATURE_SIZE, seed=_SEED)
    minhash.update(sorted(shingles(text)))
    return tuple(minhash.digest())


def bands(text: str) -> tuple[int, ...]:
    """A hash of each band of the text's signature, signed 32-bit, each once; none for a text without letters."""
    if not shingles(text):
        return ()
    values = signature(text)
    hashed = (
        hashlib.blake2b(
            b"".join(value.to_bytes(4, "big") for value in values[at * _BAND_SIZE : (at + 1) * _BAND_SIZE]),
            digest_size=4,
            salt=at.to_bytes(2, "big"),
        ).digest()
        for at in range(_BANDS)
    )
    return tuple(dict.fromkeys(int.from_bytes(digest, "big", signed=True) for digest in hashed))


def similarity(first: str, second: str) -> float:
    """Jaccard similarity of the n-grams of two texts, in [0, 1]; 0 where either is empty."""
    mine, theirs = shingles(first), shingles(second)
    union = len(mine | theirs)
    return len(mine & theirs) / union if union and mine and theirs else 0.0


def is_near_duplicate(first: str, second: str) -> bool:
    """Whether two texts say the same in nearly the same words; texts whose numbers differ never do."""
    if numbers(first) != numbers(second):
        return False
    return similarity(first, second) >= CONFIRM_AT


class MinHashNearDuplicates:
    """The `NearDuplicates` port over these functions. Stateless and thread-safe."""

    def bands(self, text: str) -> tuple[int, ...]:
        """Signed 32-bit values of which near duplicates share at least one."""
        return bands(text)

    def difference(self, first: str, second: str) -> str | None:
        """What keeps two texts apart, however alike they look."""
        return difference(first, second)

    def adds_words(self, first: str, second: str) -> bool:
        """Whether the second text has words of content that the first lacks, where they share a language."""
        return adds_words(first, second)

    def same_words(self, first: str, second: str) -> bool:
        """Whether two texts are the same but for case, width, blanks and punctuation."""
        return same_words(first, second)

    def are_duplicates(self, first: str, second: str) -> bool:
        """Whether the exact similarity of two texts reaches CONFIRM_AT and their numbers agree."""
        return is_near_duplicate(first, second)
