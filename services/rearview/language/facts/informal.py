"""Informal English as it is typed, spelled out so that the rules need to know one spelling only."""

import re

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
}
_INFORMAL = re.compile(
    rf"(?<![A-Za-z0-9'.@-])(?:{'|'.join(_SPELLED_OUT)})(?![A-Za-z0-9'@-])(?!\.[A-Za-z])", re.IGNORECASE
)
_CLOSERS = re.compile(r"\s+(?:(?:lol|lmao|haha+|hehe+|tbh|btw|imo|thx|tho)[\s.!]*)+$", re.IGNORECASE)
# "im" is a word of other languages and IM an abbreviation.
_NO_SPELLING = re.compile("^[A-Z]{2,}$")


def spelled_out(clause: str) -> str:
    """Return a clause with informal spellings in full and without closing words such as "lol"."""
    return _INFORMAL.sub(_in_full, _CLOSERS.sub("", clause))


def _in_full(match: re.Match[str]) -> str:
    written = match.group()
    return written if _NO_SPELLING.match(written) else _SPELLED_OUT[written.lower()]
