"""Rules the speaker lays down: what must be, must not be, and is always to be done."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rearview.domain.fact import Stance
from rearview.language.facts import constraints_en, constraints_zh
from rearview.language.facts.sieve import Sieve

_RULES: tuple[tuple[re.Pattern[str], bool, Stance], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), denied, stance)
    for pattern, denied, stance in (*constraints_zh.RULES, *constraints_en.RULES)
)
_SIEVE = Sieve([pattern for pattern, _, _ in _RULES])
# Whose rule it is: "我们公司禁止……", "our policy is that ...".
_WHOSE = re.compile(
    r"^(?:(?:我们?|咱们?)?(?:公司|团队|team|部门|小组|组里?|项目组?|家里?)(?:内部|里)?(?:都|也)?\s?(?:规定|要求|约定"
    r"|有规定)?[,，:：]?\s?"
    r"(?=禁止|严禁|不允许|不准|不许|不得|一律|必须|pr|代码|所有|每)|(?:our|my|the)(?: [a-z]+)? (?:policy"
    r"|rule) is(?: that| to)? )",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[,， ]+(?:please|pls|plz|thanks|okay|ok)|吧|哦|啊|了|哈|谢谢|就行|就好|即可|为好|行吗|拜托)+$", re.IGNORECASE
)
# "Don't use it": what it is that nobody shall use was said elsewhere.
_OF_THE_MOMENT = re.compile(
    r"\b(?:it|that|this|those|these)$|^[a-z]+ them$"
    r"|\bin (?:this|that|the (?:first|second|third|last|next)) (?:paragraph|section|sentence|line|draft|slide|table"
    r"|chapter)\b"
    r"|\b(?:yet|for now|right now)$|这段|这句|这篇",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LaidDown:
    """A rule in its words, without the word that makes it one; `denied` for what must not be."""

    rule: str
    denied: bool
    stance: Stance


def laid_down(clause: str) -> Iterator[LaidDown]:
    """The rule that a clause lays down, if it does."""
    clause = _WHOSE.sub("", clause)
    for index in _SIEVE.worth_trying(clause):
        pattern, denied, stance = _RULES[index]
        match = pattern.match(clause)
        if match:
            rule = _TAIL.sub("", match["rule"]).strip(" .")
            if verb := match.groupdict().get("does"):
                rule = f"{_base(verb)} {rule}"
            if rule and not _OF_THE_MOMENT.search(rule):
                yield LaidDown(rule, denied, stance)
            return


def _base(verb: str) -> str:
    """Return "pushes" as "push"."""
    if verb.endswith(("shes", "ches", "sses", "xes")):
        return verb[:-2]
    return verb.removesuffix("s")
