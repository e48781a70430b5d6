"""Values that are known from elsewhere, replaced wherever they stand."""

import re
from collections.abc import Mapping

from rearview.domain.text import PiiCategory
from rearview.ports.redactor import Naming

_LEAST_CHARACTERS = 2
_MOST_VALUES = 2_000
"""In one pattern; more values than one group of texts ever holds."""


class KnownValues:
    """What was found in one text, to be taken out of others that were made of it: a fact says the number alone, without
    the words by which it is recognised, and a model that saw a name in a sentence may not see it in a list."""

    def __init__(self, values: Mapping[str, PiiCategory]) -> None:
        """Take values as they were written, with their categories."""
        longest_first = sorted((value for value in values if len(value) >= _LEAST_CHARACTERS), key=len, reverse=True)
        self._categories = {value.casefold(): values[value] for value in longest_first}
        parts = [_bounded(value) for value in longest_first[:_MOST_VALUES]]
        self._pattern = re.compile("|".join(parts), re.IGNORECASE) if parts else None

    def replaced(self, text: str, name: Naming) -> str:
        """Return the text with each of the values replaced by what `name` calls it."""
        if self._pattern is None:
            return text

        def placed(match: re.Match[str]) -> str:
            category = self._categories.get(match.group().casefold())
            return match.group() if category is None else name(category, match.group())

        return self._pattern.sub(placed, text)


def _bounded(value: str) -> str:
    # A part of a longer word or number is another value; Chinese has no such bounds.
    before = r"(?<![A-Za-z0-9])" if _is_plain(value[0]) else ""
    after = r"(?![A-Za-z0-9])" if _is_plain(value[-1]) else ""
    return before + re.escape(value) + after


def _is_plain(character: str) -> bool:
    return character.isascii() and character.isalnum()
