"""A sieve lets no pattern through that cannot match, and holds back none that can."""

import re

import pytest

from rearview.evaluation.facts import read_facts_file
from rearview.language.facts import constraints_en, constraints_zh, health, identity, measures, possessions, preferences
from rearview.language.facts.clauses import clauses, sentences
from rearview.language.facts.sieve import Sieve, required
from rearview.language.facts.switches import PATTERNS

RULES = [rule.pattern for family in (identity, measures, health, possessions, preferences) for rule in family.RULES] + [
    re.compile(pattern, re.IGNORECASE) for pattern, *_ in (*constraints_zh.RULES, *constraints_en.RULES)
]


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("我(?:现在)?住在?.{2,8}", {"住"}),
        ("我(?:搬|住)到.+", {"搬", "住"}),
        ("我(?:搬[到去]|住).+", {"搬", "住"}),
        (r"i (?:now )?live in [a-z]+", {"liv"}),
        (r"I (?:LO|LI)ve [a-z]+", {"lov", "liv"}),
        ("我 (?:love|爱).+", {"lov", "爱"}),
        ("(?:我|I)?(?!住)(?:在|at).+", None),
        ("[^，。]{2,8}", None),
        ("(?:住)*.+", None),
        ("(?:住){2}.+", {"住"}),
        ("(?=.*住).+", None),
        ("(?P<what>养)(?<=养)猫?", {"养"}),
    ],
)
def test_what_a_pattern_cannot_do_without(pattern: str, pieces: set[str] | None) -> None:
    found = required(re.compile(pattern, re.IGNORECASE))
    assert found == (None if pieces is None else frozenset(pieces))


def test_patterns_keep_their_order_and_unknown_ones_are_tried() -> None:
    sieve = Sieve([re.compile(pattern) for pattern in ("住", ".+", "搬", "mov")])
    assert list(sieve.worth_trying("搬家, 住新房")) == [0, 1, 2]
    assert list(sieve.worth_trying("I MOVED")) == [1, 3]


@pytest.mark.parametrize("patterns", [RULES, list(PATTERNS)])
def test_no_match_is_held_back(patterns: list[re.Pattern[str]]) -> None:
    sieve = Sieve(patterns)
    matched = 0
    for utterance in read_facts_file(None).utterances:
        said = [found.text for sentence in sentences(utterance.text) for found in clauses(sentence, lambda _: False)]
        for text in (said + ["I " + clause for clause in said] + ["我" + clause for clause in said]) * (
            utterance.id % 2
        ):
            matching = {index for index, pattern in enumerate(patterns) if pattern.match(text)}
            assert matching <= set(sieve.worth_trying(text))
            matched += len(matching)
    assert matched


def test_most_rules_are_held_back() -> None:
    sieve = Sieve(RULES)
    assert sum(required(rule) is None for rule in RULES) < len(RULES) / 50
    assert len(list(sieve.worth_trying("昨天下雨，我们在公园里走了很久"))) < len(RULES) / 5
    assert len(list(sieve.worth_trying("the meeting ran long and nobody took notes"))) < len(RULES) / 5
