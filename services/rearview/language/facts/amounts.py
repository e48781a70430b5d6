"""Amounts as people write them: 8000, 八千, 8k, 1.2万, 一万二, $1,200, 1米75."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

ZH_NUMERALS = "零〇一二两三四五六七八九十百千万亿"
NUMBER = (
    rf"(?P<number>[0-9][0-9,]{{0,14}}(?:\.[0-9]{{1,4}})?|[{ZH_NUMERALS}]{{1,12}})\s?"
    r"(?P<scale>百万|千万|万|千|亿|k(?![a-z])|w(?![a-z])|thousand|grand"
    r"|million)?(?P<tail>(?<=[万千])[0-9一二三四五六七八九](?![0-9万千]))?"
)
CURRENCY = (
    r"(?P<unit>元|块钱?|人民币|美元|美金|欧元|英镑|日元|港币|(?:us )?dollars?|usd|bucks|yuan|rmb|cny|euros?"
    r"|eur|pounds?|quid|gbp)"
)
MONEY = rf"(?P<sign>[$€£¥￥])?\s?{NUMBER}\s?{CURRENCY}?"

_CURRENCIES = {
    "元": "CNY", "块": "CNY", "块钱": "CNY", "人民币": "CNY", "yuan": "CNY", "rmb": "CNY", "cny": "CNY",
    "¥": "CNY", "￥": "CNY", "美元": "USD", "美金": "USD", "dollar": "USD", "dollars": "USD", "us dollar": "USD",
    "us dollars": "USD", "bucks": "USD", "usd": "USD", "$": "USD", "欧元": "EUR", "euro": "EUR", "euros": "EUR",
    "eur": "EUR", "€": "EUR", "英镑": "GBP", "pound": "GBP", "pounds": "GBP", "quid": "GBP", "gbp": "GBP",
    "£": "GBP", "日元": "JPY", "港币": "HKD",
}  # fmt: skip
_SCALES = {
    "万": 10_000, "千": 1_000, "百万": 1_000_000, "千万": 10_000_000, "亿": 100_000_000, "k": 1_000, "w": 10_000,
    "thousand": 1_000, "grand": 1_000, "million": 1_000_000,
}  # fmt: skip
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_STEPS = {"十": 10, "百": 100, "千": 1_000}
_SECTIONS = {"万": 10_000, "亿": 100_000_000}
_CENT = Decimal("0.01")


def amount(groups: Mapping[str, str]) -> Decimal | None:
    """Return the number that the groups of NUMBER say, None where it is none."""
    written = groups["number"]
    scale = _SCALES.get(groups.get("scale", "").lower(), 1)
    if written[0].isdigit():
        try:
            value = Decimal(written.replace(",", ""))
        except InvalidOperation:
            return None
    else:
        spelled = spelled_number(written)
        if spelled is None:
            return None
        value = Decimal(spelled)
    value *= scale
    if tail := groups.get("tail", ""):
        # "1万2" is 12,000: the digit counts the next lower step.
        value += Decimal(_DIGITS.get(tail) or int(tail)) * scale / 10
    return value


def spelled_number(written: str) -> int | None:
    """Return the value of Chinese numerals, the colloquial 一万二 (12,000) and 八千五 (8,500) included."""
    total = section = digit = 0
    last_step = 0
    for character in written:
        if character in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[character]
            if character in "零〇":
                last_step = 0
        elif character in _STEPS:
            step = _STEPS[character]
            section += (digit or (1 if character == "十" else 0)) * step
            digit, last_step = 0, step
        else:
            unit = _SECTIONS[character]
            total = (total + section + digit) * unit
            section = digit = 0
            last_step = unit
    if digit and last_step > 10:
        digit *= last_step // 10
    value = total + section + digit
    return value if value or written in ("零", "〇") else None


def plain(value: Decimal) -> str:
    """Return a decimal of at most two places without trailing zeros."""
    text = f"{value.quantize(_CENT):f}" if abs(value) < 10**20 else f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def currency(groups: Mapping[str, str]) -> str | None:
    """Return the ISO 4217 code of a unit or sign, None where none was said."""
    return _CURRENCIES.get((groups.get("unit") or groups.get("sign") or "").lower())
