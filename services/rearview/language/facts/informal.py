"""Informal English as it is typed, spelled out so that the rules need to know one spelling only."""

import re

from rearview.language.facts.cues import words_of

_SPELLED_OUT = {
    "im": "I'm",
    "ive": "I've",
    "dont": "don't",
    "doesnt": "doesn't",
    "didnt": "didn't",
    "isnt": "isn't",
    "arent": "aren't",
    "cant": "can't",
    "plz": "please",
    "pls": "please",
    "bf": "boyfriend",
    "gf": "girlfriend",
    "gonna": "going to",
    "wanna": "want to",
    "cuz": "because",
    "lets": "let's",
    "gotta": "have to",
    "wont": "won't",
    "lil": "little",
    "sis": "sister",
    "bro": "brother",
    "fav": "favourite",
    "fave": "favourite",
    "yrs": "years",
    "yr": "year",
    "bday": "birthday",
    "def": "definitely",
    "prolly": "probably",
}
_INFORMAL = re.compile(
    rf"(?<![A-Za-z0-9'.@-])(?:{'|'.join(_SPELLED_OUT)})(?!'(?!s\b)|[A-Za-z0-9@-])(?!\.[A-Za-z])",
    re.IGNORECASE,
)
_CLOSERS = re.compile(
    r"\s+(?:(?:lol|lmao|haha+|hehe+|tbh|btw|imo|thx|tho|rn|ngl|fr|fyi|atm|idk|pls|plz|thanks|thank you|哈+|哦"
    r"|啦)[\s.!]*)+$",
    re.IGNORECASE,
)
# "im" is a word of other languages and IM an abbreviation.
_DRAWN_OUT = re.compile(r"\blo+ve+\b|\b(?P<hate>hate+)\b", re.IGNORECASE)
_STAMMERED = re.compile(r"\b(?P<word>[a-z]{2,12})(?: (?P=word)\b)+", re.IGNORECASE)
_BLANKS = re.compile(" {2,}")
_NO_SPELLING = re.compile("^[A-Z]{2,}$")


def spelled_out(clause: str) -> str:
    """Return a clause with informal spellings in full, single blanks, and without closing words such as "lol"."""
    plain = _CLOSERS.sub("", _BLANKS.sub(" ", clause)) if clause.split(maxsplit=1) != [clause] else clause
    words = words_of(plain)
    if not words:
        return plain
    plain = _STAMMERED.sub(r"\g<word>", _DRAWN_OUT.sub(_short, plain))
    return plain if words.isdisjoint(_SPELLED_OUT) else _INFORMAL.sub(_in_full, plain)


def _in_full(match: re.Match[str]) -> str:
    written = match.group()
    return written if _NO_SPELLING.match(written) else _SPELLED_OUT[written.lower()]


def _short(match: re.Match[str]) -> str:
    return "hate" if match["hate"] else "love"
