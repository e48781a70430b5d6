"""What becomes of a message on its way: as it is, with texts that are no UTF-8, or with its octets spoilt."""

from __future__ import annotations

from random import Random

from tests.support.fuzz.texts import UNSAID

_NO_UTF8 = (
    b"\xed\xa0\x80" + b"a" * 7,  # a lone surrogate
    b"\xff\xfe" + b"a" * 8,
    b"a" * 9 + b"\xc3",  # cut
    b"\xc0\xaf" * 5,  # longer than it has to be
    b"\xf4\x90\x80\x80" + b"a" * 6,  # beyond the last plane
)
_NESTED_GROUPS = b"\x0b"
_SPOILT = 0.06


def as_sent(random: Random, octets: bytes) -> bytes:
    """Return the octets that go over the wire; one request in sixteen is spoilt."""
    octets = octets.replace(UNSAID.encode(), random.choice(_NO_UTF8))
    return _spoilt(random, octets) if random.random() < _SPOILT else octets


def _spoilt(random: Random, octets: bytes) -> bytes:
    kind = random.randrange(6)
    at = random.randrange(len(octets) + 1)
    if kind == 0:
        return octets[:at]
    if kind == 1:
        return octets[:at] + random.randbytes(random.randrange(1, 20)) + octets[at:]
    if kind == 2:
        return octets + octets
    if kind == 3:
        return octets + _NESTED_GROUPS * random.choice((50, 101, 10_000))
    if kind == 4:
        return random.randbytes(random.randrange(1, 200))
    changed = bytearray(octets)
    for _ in range(min(len(changed), 4)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)
