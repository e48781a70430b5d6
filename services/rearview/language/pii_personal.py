"""Recognisers of what a tenant's policy may ask for in addition: dates of birth and postal addresses, by rules.

Every repetition is bounded, so matching is linear in the text.
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]

# Dates of birth -----------------------------------------------------------------------------------------------------

_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = (
    r"(?:(?:(?:19|20)[0-9]{2}|[0-9]{2}(?=年))\s?[年./-]\s?[01]?[0-9]\s?[月./-]\s?[0-3]?[0-9](?![0-9])\s?[日号]?"
    r"|(?:19|20)[0-9]{2}[01][0-9][0-3][0-9](?![0-9])"
    r"|[0-3]?[0-9][/.-][0-3]?[0-9][/.-](?:(?:19|20)[0-9]{2}|[0-9]{2})(?![0-9])"
    rf"|{_MONTH}\.? [0-3]?[0-9](?:st|nd|rd|th)?,? (?:19|20)[0-9]{{2}}(?![0-9])"
    rf"|[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?{_MONTH}\.?,? (?:19|20)[0-9]{{2}}(?![0-9]))"
)
_LABELLED_BIRTH = re.compile(
    r"(?:出生日期|出生年月日?|出生时间|出生于|出生在|诞生于|生于|生日|生辰|出生"
    r"|(?<![A-Za-z])(?:date of birth|birth ?date|birthday|d\.?o\.?b\.?|born))"
    r"(?:\s|[:：]|是|为|在|(?<![A-Za-z])(?:is|was|on|in)(?![A-Za-z])){0,6}"
    rf"({_DATE})",
    re.IGNORECASE,
)
_DATE_THEN_BIRTH = re.compile(rf"(?<![0-9A-Za-z.-])({_DATE})\s?(?:出生(?!率)|生的|生人)", re.IGNORECASE)


def dates_of_birth(text: str) -> Iterator[Span]:
    """Full dates that are said to be somebody's birth; a birthday without its year is left."""
    for pattern in (_LABELLED_BIRTH, _DATE_THEN_BIRTH):
        for match in pattern.finditer(text):
            yield match.start(1), match.start(1) + len(match.group(1).rstrip())


# Addresses ----------------------------------------------------------------------------------------------------------

_ZH_NUMBER = "[0-9０-９A-Za-z一二三四五六七八九十百-]"
# What makes an address of a street or an estate: the number of a house.
_ZH_HOUSE = re.compile(
    r"(?:路|大街|街|大道|巷|胡同|街道)(?:[东南西北中]段)?[0-9]{1,5}(?:-[0-9]{1,4})?(?:号院|号楼|号|弄)"
    r"|(?:小区|花园|公寓|家园|大厦|新村|苑|里)[0-9A-Za-z一二三四五六七八九十]{1,4}(?:栋|幢|座|号楼)"
)
_ZH_INSIDE = re.compile(
    rf"(?:[\u4e00-\u9fff]{{0,8}}?{_ZH_NUMBER}{{1,6}}(?:号楼|号|弄|栋|幢|座|单元|室|楼|层)|(?<=[楼栋幢座元])[0-9]{{3,4}}(?![0-9])){{0,5}}"
)
_ZH_BEFORE = re.compile("[\u4e00-\u9fffA-Za-z0-9]{1,30}\\Z")
_ZH_CUE = re.compile("改成|改为|换成|换为|[在到往去是为住址寄送搬给从位于]")
_MAX_BEFORE = 30

_EN_STREET = re.compile(
    r"(?<![0-9A-Za-z.,-])[1-9][0-9]{0,4}[A-Za-z]? (?:[NSEW]\.? )?(?:[A-Z0-9][A-Za-z0-9'.-]{0,20} ){1,4}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Way|Place|Pl|Square|Sq|Terrace|Parkway"
    r"|Pkwy|Highway|Hwy|Circle|Cir)(?![A-Za-z])\.?"
    r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|#)\.? ?[A-Za-z0-9-]{1,8})?"
    r"(?:, [A-Z][A-Za-z.]{1,20}(?: [A-Z][A-Za-z.]{1,20}){0,3}){0,2}(?:,? [A-Z]{2}(?![A-Za-z]))?"
    r"(?:,? [0-9]{5}(?:-[0-9]{4})?(?![0-9]))?"
)


def addresses(text: str) -> Iterator[Span]:
    """Postal addresses down to the house, Chinese and of the English form; a district or a town alone is left."""
    done = 0
    for match in _ZH_HOUSE.finditer(text):
        if match.start() < done:
            continue
        inside = _ZH_INSIDE.match(text, match.end())
        done = inside.end() if inside else match.end()
        yield _zh_start(text, match.start()), done
    for match in _EN_STREET.finditer(text):
        yield match.span()


def _zh_start(text: str, street: int) -> int:
    """Where the address begins whose street's name ends here: after the last word that leads to a place."""
    window = text[max(0, street - _MAX_BEFORE) : street]
    run = _ZH_BEFORE.search(window)
    if run is None:
        return street
    begin = run.start()
    for cue in _ZH_CUE.finditer(window, begin):
        begin = cue.end()
    return street - len(window) + begin
