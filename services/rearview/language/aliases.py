"""Canonical forms: one spelling for a name across case, width, language and alias."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rearview.domain.text import EntityType
from rearview.language.data_files import load_yaml
from rearview.language.scripts import fold_width, has_han

_KINDS = {
    "attributes": EntityType.OTHER,
    "people": EntityType.PERSON,
    "places": EntityType.PLACE,
    "organisations": EntityType.ORGANISATION,
    "products": EntityType.PRODUCT,
}
_SPACE = re.compile(r"\s+")
_EDGES = " \t\n\"'“”‘’「」《》<>()（）[]【】,，.。!！?？:：;；"
_LEAST_HAN_LENGTH = 2
"""One Chinese character is part of too many words to be found inside a sentence."""

# Common words as well as names ("移动硬盘", "tell us"): they have canonical forms, and are not looked for in sentences.
_AMBIGUOUS = frozenset(
    ("us", "the us", "hk", "移动", "联通", "电信", "字节", "阿里", "滴滴", "先生", "太太", "领导", "工作")
)


@dataclass(frozen=True, slots=True)
class _Aliases:
    canonical: dict[str, str]
    kinds: dict[str, EntityType]
    latin: re.Pattern[str]
    han: re.Pattern[str]


def canonical(name: str) -> str:
    """Return NFKC, lower case, single blanks, no quotes around, and the alias's canonical name where one is known."""
    folded = normalised(name)
    return _aliases().canonical.get(folded, folded)


def normalised(name: str) -> str:
    """The form in which names are compared, before aliases."""
    return _SPACE.sub(" ", fold_width(name).lower().replace("\u2019", "'")).strip(_EDGES)


def spellings(name: str) -> tuple[str, ...]:
    """Return all known names of the same thing, in both languages, as they are compared; the canonical one first."""
    key = canonical(name)
    others = sorted(alias for alias, first in _aliases().canonical.items() if first == key)
    return tuple(dict.fromkeys((key, normalised(name), *others)))


def common_words() -> frozenset[str]:
    """Return names that are words as well ("us", "移动"): a text that holds one need not speak of the thing."""
    return _AMBIGUOUS


def kind_of(name: str) -> EntityType | None:
    """What kind of thing a known name is."""
    return _aliases().kinds.get(normalised(name))


def known_names(text: str) -> Iterator[tuple[int, int, EntityType]]:
    """Where known names occur, longest first at each place; `text` has plain width, any case."""
    aliases = _aliases()
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few letters change length in lower case; then offsets would not hold.
        lowered = text
    patterns = [aliases.latin, aliases.han] if has_han(text) else [aliases.latin]
    for pattern in patterns:
        for match in pattern.finditer(lowered):
            yield match.start(), match.end(), aliases.kinds[match.group()]


@lru_cache(maxsize=1)
def _aliases() -> _Aliases:
    table: dict[str, str] = {}
    kinds: dict[str, EntityType] = {}
    for section, lines in load_yaml("aliases.yaml").items():
        for names in lines:
            for name in names:
                table.setdefault(normalised(str(name)), normalised(str(names[0])))
                kinds.setdefault(normalised(str(name)), _KINDS[section])
    latin = [name for name in kinds if not has_han(name) and name not in _AMBIGUOUS]
    han = [name for name in kinds if has_han(name) and len(name) >= _LEAST_HAN_LENGTH and name not in _AMBIGUOUS]
    return _Aliases(
        table,
        kinds,
        re.compile(rf"(?<![a-z0-9_'-])(?:{_alternatives(latin)})(?![a-z0-9_'-])"),
        re.compile(_alternatives(han)),
    )


def _alternatives(names: list[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
