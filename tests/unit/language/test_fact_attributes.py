"""Files of attributes: the shipped one, a user's own, and what is said of their mistakes."""

from pathlib import Path

import pytest

from rearview.domain.fact import FactKind, Stance
from rearview.language.facts import InvalidAttributeFile, RuleFactExtractor, attributes, load_attributes

OWN = """
loyalty_tier: {kind: identity, single_valued: true, aliases: [loyalty tier, 会员等级]}
budget: {aliases: [花费上限]}
mileage:
  {kind: measure, single_valued: true, value: number, unit: km, units: {公里: 1, miles: 1.6}, aliases: [里程, mileage]}
"""


SAID = ("我的会员等级是金卡", "My loyalty tier is gold", "花费上限3000元", "里程改成20 miles", "忘掉我的会员等级")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


def test_without_a_file_there_are_the_shipped_ones() -> None:
    assert load_attributes(None) == attributes()


def test_own_attributes_are_read_as_the_shipped_ones(own: Path) -> None:
    extractor = RuleFactExtractor(load_attributes(own))
    read = {
        text: (fact.attribute, fact.value_key, fact.unit, fact.stance)
        for text in (
            "我的会员等级是金卡",
            "My loyalty tier is gold",
            "花费上限3000元",
            "里程改成20 miles",
            "忘掉我的会员等级",
        )
        for fact in extractor.extract_facts(text, "user")
    }
    assert list(read.values()) == [
        ("loyalty_tier", "金卡", None, Stance.STANDING),
        ("loyalty_tier", "gold", None, Stance.STANDING),
        ("budget", "3000", "CNY", Stance.STANDING),
        ("mileage", "32", "km", Stance.CHANGE),
        ("loyalty_tier", "", None, Stance.RETRACTION),
    ]


def test_known_attributes_keep_what_a_file_does_not_name(own: Path) -> None:
    budget = load_attributes(own)["budget"]
    assert budget.kind is FactKind.MEASURE
    assert {"budget", "预算", "花费上限"} <= set(budget.aliases)
    assert "花费上限" not in attributes()["budget"].aliases


@pytest.mark.parametrize(
    ("content", "field", "reason"),
    [
        ("tier: {kind: identiti, single_valued: true, aliases: [tier]}", "line 1, tier.kind", "must be one of"),
        ("\ntier: {single_valued: maybe, aliases: [tier]}", "line 2, tier.single_valued", "true or false"),
        ("tier: {aliases: [tier]}", "line 1, tier.single_valued", "is required"),
        ("tier: {single_valued: true}", "line 1, tier.aliases", "is required"),
        ("tier: {single_valued: true, aliases: []}", "line 1, tier.aliases", "a list of 1 to"),
        ("tier: {single_valued: true, aliases: [预算]}", "line 1, tier.aliases", "already names budget"),
        ("Tier: {single_valued: true, aliases: [tier]}", "line 1, Tier", "lower-case"),
        ("tier: {single_valued: true, aliases: [tier], colour: red}", "line 1, tier.colour", "no known field"),
        ("tier: {single_valued: true, aliases: [tier], units: {a: 1}}", "line 1, tier.units", "has units"),
        (
            "tier: {single_valued: true, value: number, aliases: [tier], units: {a: -1}}",
            "line 1, tier.units.a",
            "above 0",
        ),
        ("tier: 1", "line 1, tier", "mapping"),
        ("- tier", "line 1", "must map"),
        ("tier: {", "line 1", "not YAML"),
        ("a: {single_valued: true, aliases: [b1]}\na: {single_valued: true, aliases: [b2]}", "line 2, a", "twice"),
    ],
)
def test_mistakes_are_named_with_line_and_field(tmp_path: Path, content: str, field: str, reason: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidAttributeFile) as caught:
        load_attributes(path)
    named = [(violation.field, violation.description) for violation in caught.value.violations]
    assert any(where == f"{path} {field}" and reason in why for where, why in named)


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("a: {single_valued: 1, aliases: [x1]}\nb: {kind: z, single_valued: true, aliases: [x2]}", "utf-8")
    with pytest.raises(InvalidAttributeFile) as caught:
        load_attributes(path)
    assert len(caught.value.violations) == 2


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidAttributeFile, match="cannot be read"):
        load_attributes(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xff")
    with pytest.raises(InvalidAttributeFile, match="not UTF-8"):
        load_attributes(tmp_path / "latin.yaml")
