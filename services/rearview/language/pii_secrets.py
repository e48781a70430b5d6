"""Recognisers of mail addresses, keys, tokens and passwords; every repetition is bounded, matching is linear."""

import re
from collections.abc import Iterator

Span = tuple[int, int]

# Mail addresses -----------------------------------------------------------------------------------------------------

_MAX_LOCAL = 64
_LOCAL = re.compile(rf"[A-Za-z0-9\u00c0-\u024f!#$%&'*+/=?^`{{|}}~._-]{{1,{_MAX_LOCAL}}}\Z")
_LOCAL_START = re.compile(r"[A-Za-z0-9\u00c0-\u024f_]")
_DOMAIN = re.compile(
    r"(?:[A-Za-z0-9\u00c0-\u024f](?:[A-Za-z0-9\u00c0-\u024f-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![A-Za-z-])"
)


# "postgres://app:secret@host.example.com": the host behind a password is no mail domain.
_CREDENTIALS_BEFORE = re.compile(r"://[^\s/@:]{0,64}:[^\s/@]{0,90}\Z")


def emails(text: str) -> Iterator[Span]:
    """Mail addresses; a Chinese character may stand right before or after."""
    at = text.find("@")
    while at != -1:
        domain = _DOMAIN.match(text, at + 1)
        local = _LOCAL.search(text[max(0, at - _MAX_LOCAL) : at]) if domain else None
        first = _LOCAL_START.search(local.group()) if local else None
        if domain and local and first and not _CREDENTIALS_BEFORE.search(text[max(0, at - 160) : at]):
            yield at - len(local.group()) + first.start(), domain.end()
        at = text.find("@", domain.end() if domain else at + 1)


# Keys and tokens ----------------------------------------------------------------------------------------------------

_KEY_SHAPES = re.compile(
    r"(?<![0-9A-Za-z_])(?:"
    r"sk-[A-Za-z0-9_-]{16,256}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,128}"
    r"|gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255}|glpat-[A-Za-z0-9_-]{16,64}"
    r"|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{30,40}|ya29\.[A-Za-z0-9_-]{20,512}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,256}|hf_[A-Za-z0-9]{30,64}|npm_[A-Za-z0-9]{30,64}|pypi-[A-Za-z0-9_-]{40,512}"
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"
    r"|LTAI[A-Za-z0-9]{12,26}|AKID[A-Za-z0-9]{13,40}"
    r"|eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,1024}"
    r")(?![0-9A-Za-z_])"
)
_BEARER = re.compile(
    r"(?<![A-Za-z])(?:bearer|basic)\s{1,3}(?=[A-Za-z._~+/=-]{0,40}[0-9A-Z])"
    r"([A-Za-z0-9._~+/-]{12,4096}={0,2})(?![0-9A-Za-z_])",
    re.IGNORECASE,
)
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"[A-Za-z0-9+/=\s:,.-]*")

_GIVEN = r"[\"']?\s{0,3}(?:[:：=]|(?<![A-Za-z])(?:is|was|to)(?![A-Za-z])|是|为|改成|改为|设为|设成|换成)\s{0,3}"
_QUOTE = "[\"'“‘「`]?"
_SECRET_LABEL = re.compile(
    r"(?:密钥|令牌|(?<![A-Za-z])(?:api[ _-]?key|apikey"
    r"|secret(?:[ _-]?(?:access)?[ _-]?key)?|access[ _-]?key(?:[ _-]?id)?"
    r"|(?:access|auth|refresh|api|session|bot)[ _-]?token|client[ _-]?secret|private[ _-]?key|token))"
    + _GIVEN
    + _QUOTE
    + r"([A-Za-z0-9+/=._~-]{8,512})"
    + r"(?![A-Za-z0-9_])",
    re.IGNORECASE,
)


def secrets(text: str) -> Iterator[Span]:
    """Keys and tokens of well-known shapes, bearer tokens, private keys, and random-looking values called a key."""
    for match in _KEY_SHAPES.finditer(text):
        yield match.span()
    for match in _BEARER.finditer(text):
        yield match.span(1)
    for match in _SECRET_LABEL.finditer(text):
        value = match.group(1).rstrip(".")
        if _looks_random(value):
            yield match.start(1), match.start(1) + len(value)
    yield from _private_keys(text)


def _looks_random(value: str) -> bool:
    return any(character.isdigit() for character in value) and any(character.isalpha() for character in value)


def _private_keys(text: str) -> Iterator[Span]:
    begin = _PEM_BEGIN.search(text)
    while begin:
        end = _PEM_END.search(text, begin.end())
        # A key cut off in the middle is a key all the same.
        body = _PEM_BODY.match(text, begin.end())
        stop = end.end() if end else (body.end() if body else begin.end())
        yield begin.start(), stop
        begin = _PEM_BEGIN.search(text, stop)


# Passwords ----------------------------------------------------------------------------------------------------------

_PASSWORD_LABEL = re.compile(
    r"(?:密码|口令|(?<![A-Za-z])(?:password|passwd|passphrase|passcode|pwd|pin)(?![A-Za-z])(?:\s{1,2}(?:code|number))?)"
    r"(?:分别)?(" + _GIVEN + ")" + _QUOTE + r"([!-Z\\^-~]{4,128})",
    re.IGNORECASE,
)
_URL_CREDENTIALS = re.compile(r"(?<=://)[^\s/@:\[\]]{0,64}:([^\s/@\[\]\ue000]{1,128})(?=@)")
# Right after the word, as in "密码happy2024": long enough, and a number or letters with digits or marks among them.
_ADJACENT_PASSWORD = re.compile(r"(?:密码|口令)((?=[!-Z\\^-~]{0,40}[0-9])[0-9A-Za-z][!-Z\\^-~]{5,127})")
_CLOSING = "\"'`,.;:!?)}>"
_PLAIN_ANSWERS_TEXT = (
    "required optional none null true false string text changed reset expired wrong incorrect invalid missing correct"
    " unknown hidden secret strong weak short long safe empty same different protected needed stored hashed encrypted"
    " forgotten forgot lost please what your must should minimum min max not"
)
_PLAIN_ANSWERS = frozenset(_PLAIN_ANSWERS_TEXT.split())


def passwords(text: str) -> Iterator[Span]:
    """Values given as a password, and passwords inside connection addresses."""
    for match in _PASSWORD_LABEL.finditer(text):
        value = match.group(2).rstrip(_CLOSING)
        if _is_password(value, explicit=any(mark in match.group(1) for mark in ":：=")):
            yield match.start(2), match.start(2) + len(value)
    for match in _ADJACENT_PASSWORD.finditer(text):
        yield match.start(1), match.start(1) + len(match.group(1).rstrip(_CLOSING))
    for match in _URL_CREDENTIALS.finditer(text):
        yield match.span(1)


def _is_password(value: str, *, explicit: bool) -> bool:
    """After a colon nearly anything is a value; after "is" only what is no ordinary word."""
    if len(value) < len("1234") or value.lower() in _PLAIN_ANSWERS:
        return False
    return explicit or not (value.isalpha() and (value.islower() or value.istitle()))
