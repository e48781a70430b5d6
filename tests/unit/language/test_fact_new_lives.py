"""Somebody's life has changed, and the clause after it says how: of the speaker, of others, in both languages."""

import pytest

from rearview.language.facts import extract_facts


@pytest.mark.parametrize(
    ("text", "subject", "attribute", "value"),
    [
        ("I have moved and live in Oslo now", "user", "residence", "Oslo"),
        ("I've changed jobs and am a nurse now", "user", "job", "nurse"),
        ("i just switched jobs and work at Siemens now", "user", "employer", "Siemens"),
        ("Alice has moved and lives in Oslo now.", "person/alice", "residence", "Oslo"),
        ("Alice changed jobs and is now a nurse.", "person/alice", "job", "nurse"),
        ("Tom got a new job and works at Siemens now.", "person/tom", "employer", "Siemens"),
        ("王芳搬家了，现在住在成都。", "person/王芳", "residence", "成都"),
        ("李强换岗位了，现在做会计。", "person/李强", "job", "会计"),
        ("Alice 搬家了，现在住在 Oslo。", "person/alice", "residence", "Oslo"),
    ],
)
def test_who_has_a_new_life_is_who_the_next_clause_speaks_of(
    text: str, subject: str, attribute: str, value: str
) -> None:
    (fact,) = extract_facts(text, "user")
    assert (fact.subject, fact.attribute, fact.value) == (subject, attribute, value)
    assert fact.may_supersede


@pytest.mark.parametrize(
    "text",
    [
        "周末搬家了，现在住在成都",  # 周 is a surname, and 周末 is nobody
        "If Alice moved and lives in Oslo now, tell me.",
        "Alice might have moved and lives in Oslo now?",
        "Has Alice moved and is now a nurse?",
        "Everything changed and is a mess now",
        "王芳是不是搬家了，现在住在成都？",
    ],
)
def test_of_nobody_or_not_stated(text: str) -> None:
    assert [fact for fact in extract_facts(text, "user") if not fact.about_user] == []


def test_a_verb_is_no_part_of_a_name() -> None:
    assert {fact.subject for fact in extract_facts("王芳用的手机是华为。", "user")} <= {"person/王芳"}
