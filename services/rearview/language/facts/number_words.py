"""English numbers in words as digits: "thirty-two", "twelve hundred", "five thousand"."""

import re

_ONES = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "grand": 1_000, "million": 1_000_000}
_MOST_WORDS, _ANY = 8, 100
_WORD = "|".join((*_ONES, *_TENS, *_SCALES))
_NUMBER = re.compile(
    rf"(?<![a-z0-9-])(?:{_WORD}|a (?=hundred|thousand|million))(?:(?:-| and "
    rf"| )?(?:{_WORD})(?![a-z])){{0,{_MOST_WORDS}}}(?![a-z-])",
    re.IGNORECASE,
)


def in_digits(clause: str) -> str:
    """Return a clause with its numbers in digits; what is no number in good form stays in words."""
    return _NUMBER.sub(lambda match: _digits(match.group()), clause)


def _digits(words: str) -> str:
    total = section = 0
    below = _ANY
    for word in re.findall("[a-z]+", words.lower()):
        if word in ("a", "and"):
            continue
        if word in _SCALES:
            section = max(section, 1) * _SCALES[word]
            if _SCALES[word] > _SCALES["hundred"]:
                total, section = total + section, 0
            below = _ANY
            continue
        value = _ONES.get(word) or _TENS[word]
        if value >= below:
            return words  # "five twenty" is no number
        section += value
        below = _ONES["ten"] if word in _TENS else 0
    return str(total + section)
