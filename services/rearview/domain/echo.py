"""Echoes: recalled text that comes back in a transcript, verbatim, in a list or inside a longer prompt.

What recall hands out is remembered as hashes of its sentences. A turn is searched for sentences, and runs of clauses in
them, that have one of these hashes; what is left of it is what the turn itself says. Hashes are of letters and digits
alone, so quotation, punctuation and list marks make no difference.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rearview.domain.context_text import HEADING

LEAST_LETTERS = 12
"""A shorter sentence ("Yes, I do.") may well be said again on its own; a Chinese character counts as two letters."""

MAX_CHARACTERS = 60_000
"""What is beyond in a text is not searched."""

_MOST_CLAUSES = 4
_SENTENCE_END = re.compile(r"(?<=[。！？!?；;…])|(?<=\.)(?=\s|$)|\\n|[\n\r\"“”「」『』{}\[\]|<>]+")
_CLAUSE_END = re.compile(r"(?<=[，、,：:])(?![0-9])|\s[-–—]\s")
_NOT_LETTERS = re.compile(r"[\W_]+")
_WIDE = re.compile("[\u3400-\u9fff]")
# "- 2024-01-15: Anna: ... [1]", as contexts are written: what stands around the text.
_LIST_MARK = re.compile(r"^\s*(?:[-*•]\s*|[0-9]{1,2}[.)、]\s+)?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}\s*[:：]\s*)?")
_HEADINGS = frozenset(_NOT_LETTERS.sub("", heading).casefold() for heading in HEADING.values())


@dataclass(frozen=True, slots=True)
class Echo:
    """What is left of a text without what it repeats, and how many pieces that were."""

    rest: str
    pieces: int


def sentence_hashes(text: str) -> frozenset[str]:
    """Return the hashes of a text's sentences that are long enough to be told again only by repetition."""
    return frozenset(form for start, end in _pieces(text) if (form := _hash(text[start:end])))


def candidate_hashes(text: str) -> frozenset[str]:
    """Return the hashes of everything in a text that could be a sentence handed out before."""
    return frozenset(
        form for piece in _pieces(text) for start, end in _runs(text, *piece) if (form := _hash(text[start:end]))
    )


def without_echoes(text: str, handed_out: Collection[str]) -> Echo:
    """Return the text without sentences, and runs of clauses, of these hashes."""
    left: list[str] = []
    at = pieces = 0
    for begin, end in _pieces(text):
        covered = begin
        for start, stop in _runs(text, begin, end):
            if start >= covered and _hash(text[start:stop]) in handed_out:
                left.append(text[at:start])
                at = covered = stop
                pieces += 1
    if not pieces:
        return Echo(text, 0)
    left.append(text[at:])
    kept = [_LIST_MARK.sub("", line) for line in "".join(left).splitlines()]
    rest = "\n".join(line.strip() for line in kept if _says_something(line))
    return Echo(rest, pieces)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for match in _SENTENCE_END.finditer(text, 0, MAX_CHARACTERS):
        if match.start() > at:
            yield at, match.start()
        at = match.end()
    if at < min(len(text), MAX_CHARACTERS):
        yield at, min(len(text), MAX_CHARACTERS)


def _runs(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The piece itself, then runs of its clauses, by their beginning and the longest first."""
    cuts = [begin, *(match.end() for match in _CLAUSE_END.finditer(text, begin, end)), end]
    starts = dict.fromkeys(cut for cut in cuts[:-1] if cut < end)
    mark = _LIST_MARK.match(text[begin:end])
    if mark and mark.end():
        starts = dict.fromkeys(sorted((*starts, begin + mark.end())))
    yield begin, end
    for start in starts:
        ends = [cut for cut in cuts if cut > start]
        if start != begin and len(ends) > _MOST_CLAUSES:
            yield start, end
        for stop in reversed(ends[:_MOST_CLAUSES]):
            yield start, stop


def _says_something(line: str) -> bool:
    letters = _NOT_LETTERS.sub("", line).casefold()
    return bool(letters) and letters not in _HEADINGS and not re.fullmatch(r"[0-9]{1,2}|[0-9]{8}", letters)


def _hash(piece: str) -> str:
    letters = _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", piece)).casefold()
    if len(letters) + len(_WIDE.findall(letters)) < LEAST_LETTERS:
        return ""
    return hashlib.blake2b(letters.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
