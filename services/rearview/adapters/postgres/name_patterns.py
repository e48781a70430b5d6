"""Names as regular expressions of PostgreSQL."""

import re

_WORD_EDGE = re.compile(r"[a-z0-9]")


def name_pattern(name: str) -> str:
    """Return a regular expression that finds a name: whole words, where it is written in such."""
    escaped = r"\s+".join(re.sub(r"([^\w\s])", r"\\\1", part) for part in name.split())
    before = "(?<![a-z0-9])" if _WORD_EDGE.match(name[:1]) else ""
    after = "(?![a-z0-9])" if _WORD_EDGE.match(name[-1:]) else ""
    return f"{before}{escaped}{after}"
