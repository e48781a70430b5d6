"""Values known from one text are taken out of others, and nothing that only looks like them is."""

import pytest

from rearview.domain.text import PiiCategory
from rearview.redaction.known_values import KnownValues

KNOWN = KnownValues(
    {"Kevin Marsh": PiiCategory.PERSON, "Kevin": PiiCategory.PERSON, "欧阳晓雯": PiiCategory.PERSON,
     "E73184592": PiiCategory.PASSPORT, "x": PiiCategory.PERSON}
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kevin Marsh likes jazz", "<PERSON> likes jazz"),
        ("KEVIN喜欢 jazz", "<PERSON>喜欢 jazz"),
        ("passport=e73184592.", "passport=<PASSPORT>."),
        ("和欧阳晓雯去河边", "和<PERSON>去河边"),
        ("Kevins and E731845920 and 1E73184592", "Kevins and E731845920 and 1E73184592"),
        ("x is too short to be told from a word", "x is too short to be told from a word"),
        ("", ""),
    ],
)
def test_values_go_wherever_they_stand_whole(text: str, expected: str) -> None:
    assert KNOWN.replaced(text, lambda category, _value: f"<{category}>") == expected


def test_nothing_known_changes_nothing() -> None:
    assert KnownValues({}).replaced("Kevin", lambda *_: "gone") == "Kevin"
