"""Recognisers of personal numbers: phones, ids, cards, accounts, addresses of machines, plates.

Every pattern names its own borders: a Chinese character counts as a word character in Python's `\\w`, so `\\b` would
miss the address in "服务器192.168.1.10". Every repetition is bounded, so matching is linear in the text.
Checksums decide where they exist; a label just before a number ("order", "订单号") overrules a lucky checksum.
"""

import ipaddress
import re
from collections.abc import Iterator

import phonenumbers
from stdnum import iban, luhn
from stdnum.cn import ric
from stdnum.exceptions import ValidationError

Span = tuple[int, int]

_LEFT = r"(?<![0-9A-Za-z_])"
_RIGHT = r"(?![0-9A-Za-z_])"
_LABEL_WINDOW = 40


def _label(words: str) -> re.Pattern[str]:
    """A label at the end of the text before a number, with what may link the two ("number is: ", "号码是")."""
    link = (
        r"(?:[\s.:：=#\"'“‘(（]|"
        r"(?<![A-Za-z])(?:number|numbers|no|nr|num|id|is|was|are|me|us|him|her|them|on|at|to"
        r"|back|now|my|or)(?![A-Za-z])\.?|号码|号|是|为|改成|改为|换成|到|我|给|他|她|码|新的|新){0,8}$"
    )
    return re.compile(f"(?:{words}){link}", re.IGNORECASE)


_ASCII_WORD = r"(?<![A-Za-z])"
_OTHER_NUMBER = _label(
    "订单|单号|编号|运单|快递|流水|序列|发票|合同|工单|批次|货号|型号|时间戳|哈希|"
    + _ASCII_WORD
    + "(?:order|tracking|invoice|ticket|timestamp|hash|sku|commit|serial|transaction|batch|part|isbn|reference|ref|po"
    "|uuid)"
)
_PHONE_LABEL = _label(
    "电话|手机|联系方式|联系|致电|打给|座机|热线|传真|短信|拨打|"
    + _ASCII_WORD
    + "(?:telephone|phone|tel|mobile|cell|cellphone|fax|desk|call|text|contact|whatsapp|reach|dial|answering|messages"
    "|sms|hotline|landline)"
)
_CARD_LABEL = _label(
    "卡号|卡片|卡|账号|账户|" + _ASCII_WORD + "(?:card|cc|visa|mastercard|amex|unionpay|maestro|debit|credit)"
)
_VERSION_LABEL = _label(
    "版本|固件|升级|章|节|第|"
    + _ASCII_WORD
    + "(?:version|versions|ver|v|release|build|firmware|section|chapter|clause|paragraph|revision|rev|appendix)"
)
_ROW_ID_LABEL = _label("(?<![A-Za-z])(?:id|uid|msgid|rowid|pk)")
_SSN_LABEL = _label("社保|" + _ASCII_WORD + "(?:ssn|social security)")
_OLD_ID_LABEL = _label("身份证|证件")


def _labelled(label: re.Pattern[str], text: str, start: int) -> bool:
    return label.search(text[max(0, start - _LABEL_WINDOW) : start]) is not None


# Phones -------------------------------------------------------------------------------------------------------------

_CN_MOBILE = re.compile(
    r"(?<![0-9A-Za-z_])(?<![0-9][-.])(?:\(?(?:\+|00)?86\)?[- ]?)?1[3-9][0-9](?:[0-9]{8}|([- ])[0-9]{4}\1[0-9]{4})"
    r"(?![0-9A-Za-z_])(?![-.][0-9])"
)
_CN_FIXED = re.compile(
    rf"(?<![0-9A-Za-z_.+])(?<![0-9][-])(?:[(（]0[1-9][0-9]{{1,2}}[)）][ -]?[2-8][0-9]{{6,7}}"
    rf"|0[1-9][0-9]{{1,2}}[- ][2-8][0-9]{{6,7}}"
    rf"(?:-[0-9]{{1,5}})?|[48]00[- ]?[0-9]{{3}}[- ][0-9]{{4}}|[48]00-[0-9]{{4}}-[0-9]{{3}}){_RIGHT}(?![-.][0-9])"
)
_INTERNATIONAL = re.compile(
    r"(?<![0-9A-Za-z_+:.])(?:\+|00(?=[1-9][0-9]{0,2}[-. ]))"
    r"[1-9](?:[-. /]?\(?[0-9]\)?){6,15}(?:x[0-9]{1,5})?(?![0-9A-Za-z_])"
)
# Two digits before ten, all set apart alike, are a code of a country or a region.
_NORTH_AMERICAN = re.compile(
    r"(?<![0-9A-Za-z_.+])(?<![0-9][-/])"
    r"(?:1[-. ]|[2-9][0-9](?=([-. ])[0-9]{3}\1[0-9]{3}\1[0-9]{4})[-. ])?"
    r"(?:\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[-. ][0-9]{4}|[2-9][0-9]{2}([-. ])[0-9]{3}\2[0-9]{4})"
    r"(?: ?(?:x|ext\.?) ?[0-9]{1,5})?(?![0-9A-Za-z_])(?![-./][0-9])"
)
_ANY_PHONE = re.compile(
    r"(?<![0-9A-Za-z_.+])(?<![0-9][-/])[+(]?[0-9](?:[-. ]?[()]?[-. ]?[0-9]){5,14}(?:x[0-9]{1,5})?(?![0-9A-Za-z_])"
)
_TRAILING_LABEL = re.compile(
    r"[ \t]?[-,(]?[ \t]?(?:office|fax|mobile|home|cell|desk|work phone)(?![A-Za-z])", re.IGNORECASE
)
_DATE_LIKE = re.compile(
    r"(?:19|20)[0-9]{2}[-./ ]?[01]?[0-9](?:[-./ ]?[0-3]?[0-9](?:[ T]?[0-9.:]{0,8})?)?"
    r"|[0-3]?[0-9][-./][0-3]?[0-9][-./](?:19|20)?[0-9]{2}"
)
_PHONE_UNIT = re.compile(
    r"\s?(?:元|块|人|个|次|%|％|万|亿|美元|公里|米|dollars|euros|yuan|people|times|km|usd|rmb)", re.IGNORECASE
)
_SEPARATED = re.compile(r"[-. ()]")
_LEAST_PHONE_DIGITS, _MOST_PHONE_DIGITS = 6, 15


def phones(text: str) -> Iterator[Span]:
    """Mobile and fixed numbers of China, international and North American forms, and anything a label announces."""
    found: set[int] = set()
    for pattern in (_CN_MOBILE, _CN_FIXED, _NORTH_AMERICAN):
        for match in pattern.finditer(text):
            if not _PHONE_UNIT.match(text, match.end()) and not _labelled(_OTHER_NUMBER, text, match.start()):
                found.add(match.end())
                yield match.span()
    for match in _INTERNATIONAL.finditer(text):
        if _is_possible_international(match.group()):
            found.add(match.end())
            yield match.span()
    for match in _ANY_PHONE.finditer(text):
        if match.end() not in found and _is_announced_phone(text, match):
            yield match.span()


def _is_possible_international(written: str) -> bool:
    number = written.split("x", 1)[0]
    digits = sum(character.isdigit() for character in number)
    # A sum with a plus sign ("+10000000") has no separators and fewer digits than a number with a country code.
    if digits < 10 and not _SEPARATED.search(number):
        return False
    try:
        # Possible, not valid: numbers of unassigned ranges are still somebody's attempt at a phone number.
        return phonenumbers.is_possible_number(
            phonenumbers.parse(("+" + number[2:]) if number.startswith("00") else number.replace("(0)", ""), None)
        )
    except phonenumbers.NumberParseException:
        return False


def _is_announced_phone(text: str, match: re.Match[str]) -> bool:
    written = match.group()
    digits = sum(character.isdigit() for character in written.split("x", 1)[0])
    if not _LEAST_PHONE_DIGITS <= digits <= _MOST_PHONE_DIGITS or _DATE_LIKE.fullmatch(written):
        return False
    if _PHONE_UNIT.match(text, match.end()):
        return False
    if _labelled(_PHONE_LABEL, text, match.start()):
        return True
    return _SEPARATED.search(written) is not None and _TRAILING_LABEL.match(text, match.end()) is not None


# Identity documents -------------------------------------------------------------------------------------------------

_CN_ID = re.compile(rf"{_LEFT}[1-9][0-9]{{5}}(?:19|20)[0-9]{{9}}[0-9Xx]{_RIGHT}")
_CN_ID_OLD = re.compile(rf"{_LEFT}[1-9][0-9]{{14}}{_RIGHT}")
_SSN = re.compile(
    r"(?<![0-9A-Za-z_])(?<![0-9][-.])(?!000|666|9)[0-9]{3}([- ]?)(?!00)[0-9]{2}\1(?!0000)[0-9]{4}"
    r"(?![0-9A-Za-z_])(?![-.][0-9])"
)
_PASSPORT = re.compile(
    r"(?:护照|(?<![A-Za-z])passport)(?:\s|编号|号码|号|是|为|[:：#]|(?<![A-Za-z])(?:number|no|num|is)(?![A-Za-z])\.?){0,8}"
    r"([A-Z]{1,2}[0-9]{6,8}|[0-9]{9})(?![0-9A-Za-z_])",
    re.IGNORECASE,
)
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
# Characters that end other words as well ("阿里云", "更新", "北京") are a province only where a plate is expected.
_PLATE = "[A-HJ-NP-Z][·• -]?[A-HJ-NP-Z0-9]{4,5}[A-HJ-NP-Z0-9挂学警港澳]"
_CN_PLATE = re.compile(
    rf"(?:(?<![\u4e00-\u9fffA-Za-z0-9])[{_PROVINCES}]|(?<=[是号为牌车着的有辆叫挂照开停租换])[{_PROVINCES}]"
    rf"|[沪渝冀豫辽湘皖鲁浙赣鄂桂晋陕闽粤琼苏川]|(?<![北南东])京|(?<!天)津){_PLATE}{_RIGHT}"
)
_LABELLED_PLATE = re.compile(
    r"(?<![A-Za-z])(?:licen[sc]e plate|number plate|plate number|plate no|registration plate|car registration)"
    r"(?:\s|[:：#.]|(?<![A-Za-z])(?:number|no|is|was)(?![A-Za-z])){0,6}("
    r"(?=[A-Z0-9 -]{0,7}[0-9])[A-Z0-9]{1,4}[ -]?[A-Z0-9]{2,4})(?![0-9A-Za-z_])",
    re.IGNORECASE,
)
_MAX_RIC_AREA_PREFIX = 91


def national_ids(text: str) -> Iterator[Span]:
    """Identity card numbers of China (checksum and date of birth) and social security numbers of the United States."""
    for match in _CN_ID.finditer(text):
        number = match.group().upper()
        try:
            ric.get_birth_date(number)
            valid = ric.calc_check_digit(number) == number[-1] and int(number[:2]) <= _MAX_RIC_AREA_PREFIX
        except ValidationError:
            valid = False
        if valid:
            yield match.span()
    for match in _CN_ID_OLD.finditer(text):
        if _labelled(_OLD_ID_LABEL, text, match.start()):
            yield match.span()
    for match in _SSN.finditer(text):
        if match.group(1) == "-":
            if not _labelled(_OTHER_NUMBER, text, match.start()):
                yield match.span()
        elif _labelled(_SSN_LABEL, text, match.start()):
            yield match.span()


def passports(text: str) -> Iterator[Span]:
    """Passport numbers that are called so; alone they look like any code."""
    for match in _PASSPORT.finditer(text):
        yield match.span(1)


def license_plates(text: str) -> Iterator[Span]:
    """Plates of China by their form, others where they are called plates."""
    for match in _CN_PLATE.finditer(text):
        # Five letters after the province are a name, not a plate.
        if any(character.isdigit() for character in match.group()):
            yield match.span()
    for match in _LABELLED_PLATE.finditer(text):
        yield match.span(1)


# Money --------------------------------------------------------------------------------------------------------------

_CARD = re.compile(
    r"(?<![0-9A-Za-z_])(?<![0-9A-Za-z][-])(?<![0-9]\.)(?:[0-9]{12,19}"
    r"|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{1,3})?"
    r"|3[47][0-9]{2}([ -])[0-9]{6}\2[0-9]{5}|[0-9]{6}([ -])[0-9]{10,13})(?![0-9A-Za-z_])(?![-.][0-9])"
)
_ISSUER = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|35[0-9]{14}|(?:2131|1800)[0-9]{11}|6(?:011"
    r"|4[4-9][0-9]|5[0-9]{2})[0-9]{12}"
    r"|62[0-9]{14,17}"
)
_IBAN = re.compile(
    r"(?<![0-9A-Za-z_])[A-Za-z]{2}[0-9]{2}(?:[A-Za-z0-9]{11,30}|(?: [A-Za-z0-9]{4}){2,7}"
    r"(?: [A-Za-z0-9]{1,3})?)(?![0-9A-Za-z_])"
)


def bank_cards(text: str) -> Iterator[Span]:
    """Card numbers with a right Luhn digit, of a known issuer's form or called a card."""
    for match in _CARD.finditer(text):
        number = "".join(character for character in match.group() if character.isdigit())
        if not luhn.is_valid(number):
            continue
        known = _ISSUER.fullmatch(number) is not None
        # Samples begin with 0 or 1, cards of hardly any issuer do.
        if (number[0] not in "01" or known) and (
            _labelled(_CARD_LABEL, text, match.start())
            or (
                known
                and not _labelled(_OTHER_NUMBER, text, match.start())
                and not _labelled(_ROW_ID_LABEL, text, match.start())
            )
        ):
            yield match.span()


def ibans(text: str) -> Iterator[Span]:
    """International bank account numbers whose check digits are right."""
    for match in _IBAN.finditer(text):
        # The last group may be an ordinary word after a number written in fours; try without it as well.
        written = match.group()
        for candidate in (written, written.rpartition(" ")[0]):
            if candidate and iban.is_valid(candidate, check_country=False):
                yield match.start(), match.start() + len(candidate)
                break


# Machines -----------------------------------------------------------------------------------------------------------

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"(?<![0-9A-Za-z_.])(?:{_OCTET}\.){{3}}{_OCTET}(?![0-9A-Za-z_])(?!\.[0-9])")
_IPV6 = re.compile(
    r"(?<![0-9A-Za-z_:.])(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{3,39}(?:(?<=:)[0-9]{1,3}(?:\.[0-9]{1,3}){3})?"
    r"(?![0-9A-Za-z_:])"
)
_PACKAGE_BEFORE = re.compile(r"(?:[A-Za-z0-9][/-]|[=~<>^]=?)\s?$")


def ip_addresses(text: str) -> Iterator[Span]:
    """Addresses of both versions; four numbers after "version" or a package's name are a version."""
    for match in _IPV4.finditer(text):
        before = text[max(0, match.start() - 3) : match.start()]
        if not _PACKAGE_BEFORE.search(before) and not _labelled(_VERSION_LABEL, text, match.start()):
            yield match.span()
    for match in _IPV6.finditer(text):
        if match.group().count(":") > 1 and _is_ipv6(match.group()):
            yield match.span()


def _is_ipv6(written: str) -> bool:
    # "::" alone and scope operators between names are not addresses.
    if not any(character.isdigit() for character in written) or len(written) < len("::1"):
        return False
    try:
        ipaddress.IPv6Address(written)
    except ValueError:
        return False
    return True
