"""The secrets with which services prove themselves to each other: one, or two while it is being replaced."""

from dataclasses import dataclass, field

MIN_KEY_BYTES = 32
MAX_KEYS = 2


@dataclass(frozen=True, slots=True)
class InternalKeys:
    """`signing` signs; what any of `accepted` signed is accepted, `signing` among them."""

    signing: bytes = field(repr=False)
    accepted: tuple[bytes, ...] = field(repr=False)


def parse_internal_keys(text: str) -> InternalKeys:
    """Return the keys of `key` or `key,other key`: the first signs, both are accepted.

    A key is replaced everywhere without a call being refused in three steps: `old,new`, then `new,old`, then `new`.

    Raises:
        ValueError: there are more than two, two that are the same, or one of less than 32 bytes (RFC 7518, section
            3.2).
    """
    keys = tuple(part.strip().encode() for part in text.split(","))
    if len(keys) > MAX_KEYS:
        raise ValueError(f"must be one key or two, separated by a comma; there are {len(keys)}")
    if any(len(key) < MIN_KEY_BYTES for key in keys):
        raise ValueError(f"must have at least {MIN_KEY_BYTES} bytes, each key if there are two")
    if len(set(keys)) < len(keys):
        raise ValueError("names the same key twice")
    return InternalKeys(keys[0], keys)
