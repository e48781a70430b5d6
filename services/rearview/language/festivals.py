"""Days that move from year to year: the festivals of the Chinese calendar, and Thanksgiving."""

from collections.abc import Mapping
from datetime import date, timedelta

SPRING_FESTIVAL, NEW_YEAR_EVE, LANTERN, QINGMING = "spring festival", "new year eve", "lantern", "qingming"
DRAGON_BOAT, QIXI, MID_AUTUMN, DOUBLE_NINTH = "dragon boat", "qixi", "mid-autumn", "double ninth"
THANKSGIVING = "thanksgiving"

_THURSDAY = 3
# A year's line, each as month and day of the common calendar: of the Chinese one the first day of the first month, the
# solar term of early April, and the fifth day of the fifth month, 7/7, 8/15 and 9/9. That calendar follows the sky, so
# a table is simpler than its rules.
_COLUMNS = (SPRING_FESTIVAL, QINGMING, DRAGON_BOAT, QIXI, MID_AUTUMN, DOUBLE_NINTH)
_LINES = """
1990 0127 0405 0528 0826 1003 1026
1991 0215 0405 0616 0816 0922 1016
1992 0204 0404 0605 0805 0911 1004
1993 0123 0405 0624 0824 0930 1023
1994 0210 0405 0613 0813 0920 1013
1995 0131 0405 0602 0802 0909 1101
1996 0219 0404 0620 0820 0927 1020
1997 0207 0405 0609 0809 0916 1010
1998 0128 0405 0530 0828 1005 1028
1999 0216 0405 0618 0817 0924 1017
2000 0205 0404 0606 0806 0912 1006
2001 0124 0405 0625 0825 1001 1025
2002 0212 0405 0615 0815 0921 1014
2003 0201 0405 0604 0804 0911 1004
2004 0122 0404 0622 0822 0928 1022
2005 0209 0405 0611 0811 0918 1011
2006 0129 0405 0531 0731 1006 1030
2007 0218 0405 0619 0819 0925 1019
2008 0207 0404 0608 0807 0914 1007
2009 0126 0404 0528 0826 1003 1026
2010 0214 0405 0616 0816 0922 1016
2011 0203 0405 0606 0806 0912 1005
2012 0123 0404 0623 0823 0930 1023
2013 0210 0404 0612 0813 0919 1013
2014 0131 0405 0602 0802 0908 1002
2015 0219 0405 0620 0820 0927 1021
2016 0208 0404 0609 0809 0915 1009
2017 0128 0404 0530 0828 1004 1028
2018 0216 0405 0618 0817 0924 1017
2019 0205 0405 0607 0807 0913 1007
2020 0125 0404 0625 0825 1001 1025
2021 0212 0404 0614 0814 0921 1014
2022 0201 0405 0603 0804 0910 1004
2023 0122 0405 0622 0822 0929 1023
2024 0210 0404 0610 0810 0917 1011
2025 0129 0404 0531 0829 1006 1029
2026 0217 0405 0619 0819 0925 1018
2027 0206 0405 0609 0808 0915 1008
2028 0126 0404 0528 0826 1003 1026
2029 0213 0404 0616 0816 0922 1016
2030 0203 0405 0605 0805 0912 1005
2031 0123 0405 0624 0824 1001 1024
2032 0211 0404 0612 0812 0919 1012
2033 0131 0404 0601 0801 0908 1001
2034 0219 0405 0620 0820 0927 1020
2035 0208 0405 0610 0810 0916 1009
2036 0128 0404 0530 0828 1004 1027
2037 0215 0404 0618 0817 0924 1017
2038 0204 0405 0607 0807 0913 1007
2039 0124 0405 0527 0826 1002 1026
2040 0212 0404 0614 0814 0920 1014
2041 0201 0404 0603 0803 0910 1003
2042 0122 0404 0622 0822 0928 1022
2043 0210 0405 0611 0811 0917 1011
2044 0130 0404 0531 0731 1005 1029
2045 0217 0404 0619 0819 0925 1018
2046 0206 0404 0608 0808 0915 1008
2047 0126 0405 0529 0827 1004 1027
2048 0214 0404 0615 0816 0922 1016
2049 0202 0404 0604 0805 0911 1005
2050 0123 0404 0623 0823 0930 1024
"""


def _read(lines: str) -> Mapping[int, Mapping[str, date]]:
    rows = [line.split() for line in lines.split("\n") if line]
    return {
        int(year): {name: date(int(year), int(day[:2]), int(day[2:])) for name, day in zip(_COLUMNS, days, strict=True)}
        for year, *days in rows
    }


_MOVING = _read(_LINES)


def festival(name: str, year: int) -> tuple[date, date]:
    """Return the first and last day of a festival in a year of the common calendar.

    The Spring Festival is its holiday, from New Year's Eve to the seventh of the first month.

    Raises:
        ValueError: the year is not in the table, 1990 to 2050.
    """
    if name == THANKSGIVING:
        first = date(year, 11, 1)
        day = first + timedelta(days=(_THURSDAY - first.weekday()) % 7 + 21)
        return day, day
    if year not in _MOVING:
        raise ValueError(f"the festivals of {year} are not known")
    days = _MOVING[year]
    new_year = days[SPRING_FESTIVAL]
    if name == SPRING_FESTIVAL:
        return new_year - timedelta(days=1), new_year + timedelta(days=6)
    offset = {NEW_YEAR_EVE: -1, LANTERN: 14}.get(name)
    day = days[name] if offset is None else new_year + timedelta(days=offset)
    return day, day


def new_year_day(day: int, year: int) -> date:
    """Return a day of the first month of the Chinese year that begins in `year`. Raises: as `festival`."""
    return festival(NEW_YEAR_EVE, year)[0] + timedelta(days=day)
