"""Two spellings of one value have one form, two values have two."""

import pytest

from rearview.domain.text import PiiCategory
from rearview.language.pii_values import normal_value

P = PiiCategory


@pytest.mark.parametrize(
    ("category", "spellings"),
    [
        (P.PHONE, ["13812345678", "+86 138-1234-5678", "(+86)13812345678", "008613812345678", "86 138 1234 5678"]),
        (P.PHONE, ["13812345678", "１３８１２３４５６７８"]),
        (P.PHONE, ["010-62345678", "+86 10 6234 5678", "(010)62345678"]),
        (P.PHONE, ["(415) 555-2671", "+1 415.555.2671", "1-415-555-2671", "415 555 2671"]),
        (P.PHONE, ["415-555-2671 x204", "(415) 555-2671 ext. 204"]),
        (P.EMAIL, ["Li@Example.com", "li@example.com", "ｌｉ@example.com"]),
        (P.NATIONAL_ID, ["11010519491231002x", "11010519491231002X", "110105 19491231 002X"]),
        (P.NATIONAL_ID, ["110105491231002", "11010519491231002X"]),
        (P.NATIONAL_ID, ["536-90-4399", "536 90 4399", "536904399"]),
        (P.BANK_CARD, ["4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111"]),
        (P.IBAN, ["GB82 WEST 1234 5698 7654 32", "gb82west12345698765432"]),
        (P.LICENSE_PLATE, ["京A·12345", "京a12345", "京A 12345"]),
        (P.IP, ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1"]),
        (P.DATE_OF_BIRTH, ["1990年5月7日", "1990-05-07", "May 7, 1990", "7th of May 1990", "19900507"]),
        (P.PERSON, ["Kevin  Marsh", "kevin marsh"]),
    ],
)  # fmt: skip
def test_spellings_of_one_value_have_one_form(category: PiiCategory, spellings: list[str]) -> None:
    assert len({normal_value(category, spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("category", "values"),
    [
        (P.PHONE, ["13812345678", "13812345679", "+1 381 234 5678", "415-555-2671", "415-555-2671 x1", "010-62345678"]),
        (P.PASSWORD, ["Secret", "secret"]),
        (P.IP, ["10.0.0.1", "10.0.0.10", "not an address"]),
        (P.DATE_OF_BIRTH, ["1990-05-07", "1990-07-05"]),
    ],
)
def test_values_that_differ_have_forms_that_differ(category: PiiCategory, values: list[str]) -> None:
    assert len({normal_value(category, value) for value in values}) == len(values)
