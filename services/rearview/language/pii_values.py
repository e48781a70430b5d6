"""The form that two spellings of one value share, so that it is recognised when it comes again."""

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Mapping

import phonenumbers

from rearview.domain.text import PiiCategory

_EXTENSION = re.compile(r"\s?(?:x|ext\.?)\s?([0-9]{1,5})\Z", re.IGNORECASE)
_CN_MOBILE_DIGITS, _NANP_DIGITS = 11, 10
_OLD_ID_DIGITS = 15
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def normal_value(category: PiiCategory, value: str) -> str:
    """Return the normalised value: `+86 138-1234-5678` and `13812345678` are the same number."""
    text = unicodedata.normalize("NFKC", value).strip()
    return _FORMS.get(category, _exact)(text)


def _exact(text: str) -> str:
    return text


def _letters_and_digits(text: str) -> str:
    return "".join(character for character in text if character.isalnum()).upper()


def _words(text: str) -> str:
    return " ".join(text.casefold().split())


def _phone(text: str) -> str:
    """The number with its country's code; without one, a number of China or North America is taken for such."""
    extension = _EXTENSION.search(text)
    if extension:
        return f"{_phone(text[: extension.start()])}x{extension.group(1)}"
    digits = "".join(character for character in text if character.isdigit())
    if text.lstrip("(").startswith("+") or digits.startswith("00"):
        digits = digits.removeprefix("00")
    elif digits.startswith("86") and len(digits) == _CN_MOBILE_DIGITS + len("86"):
        pass
    elif len(digits) == _CN_MOBILE_DIGITS and digits.startswith("1") and digits[1] in "3456789" and "-" not in text[:2]:
        digits = f"86{digits}"
    elif digits.startswith("0"):
        return f"86{digits.lstrip('0')}"
    elif len(digits) == _NANP_DIGITS:
        digits = f"1{digits}"
    try:
        # "+44 (0)20 7946 0958": the zero is not part of the number.
        number = phonenumbers.parse(f"+{digits}".replace("(0)", ""), None)
        return f"{number.country_code}{number.national_number}"
    except phonenumbers.NumberParseException:
        return digits


def _national_id(text: str) -> str:
    digits = _letters_and_digits(text)
    if len(digits) != _OLD_ID_DIGITS or not digits.isdecimal():
        return digits
    # The old form of an identity card, of those born before 2000, as it was extended to the new one (GB 11643-1999).
    digits = f"{digits[:6]}19{digits[6:]}"
    return digits + "10X98765432"[sum(int(d) * w for d, w in zip(digits, _ID_WEIGHTS, strict=True)) % 11]


def _ip(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return text


def _date(text: str) -> str:
    """The numbers of a date: year first where it can be told, months by number."""
    lowered = text.lower()
    month = next((at for at, name in enumerate(_MONTHS, start=1) if name in lowered), None)
    numbers = [int(number) for number in re.findall("[0-9]+", text)]
    if len(numbers) == 1 and len(text) == len("19900307"):
        return f"{text[:4]}-{int(text[4:6])}-{int(text[6:])}"
    numbers.sort(key=lambda number: number < 1000)
    if month is not None:
        numbers.insert(1, month)
    return "-".join(map(str, numbers))


_FORMS: Mapping[PiiCategory, Callable[[str], str]] = {
    PiiCategory.PHONE: _phone,
    PiiCategory.EMAIL: str.casefold,
    PiiCategory.NATIONAL_ID: _national_id,
    PiiCategory.BANK_CARD: _letters_and_digits,
    PiiCategory.IBAN: _letters_and_digits,
    PiiCategory.PASSPORT: _letters_and_digits,
    PiiCategory.LICENSE_PLATE: _letters_and_digits,
    PiiCategory.IP: _ip,
    PiiCategory.DATE_OF_BIRTH: _date,
    PiiCategory.ADDRESS: _letters_and_digits,
    PiiCategory.PERSON: _words,
    PiiCategory.ORGANISATION: _words,
}
