"""The hash by which exact repetitions are found."""

import hashlib
import re
import unicodedata

_WHITE_SPACE = re.compile(r"\s+")


def content_hash(text: str) -> bytes:
    """Return the SHA-256 of the text with width and case folded and white space squeezed, 32 bytes."""
    folded = _WHITE_SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip().casefold()
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).digest()
