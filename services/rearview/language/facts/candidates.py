"""What one clause states, by all the rules: the making of candidates."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from rearview.domain.fact import ANY_OF, PERSON, USER, FactCandidate, FactKind, Polarity, Stance, Strength
from rearview.language.facts import health, identity, measures, possessions, preferences, speech_acts, switches
from rearview.language.facts.amounts import plain, spelled_number
from rearview.language.facts.attributes import Attribute, ValueType
from rearview.language.facts.constraints import laid_down
from rearview.language.facts.decisions import decided
from rearview.language.facts.named_attributes import NamedAttributes
from rearview.language.facts.plans import planned
from rearview.language.facts.reading import Value, groups_of, measure, money, read_value, text_value
from rearview.language.facts.relations import is_about_somebody, named_relations, retold
from rearview.language.facts.rewording import as_typed, one_by_one, reworded
from rearview.language.facts.sieve import Sieve
from rearview.language.facts.statement import ZH_PERSON, FactRule
from rearview.language.facts.topics import Topics
from rearview.language.facts.values import category_of, is_place, kinds_of, relation_key, things, tidy_thing, value_key
from rearview.language.scripts import has_han

_RULES: tuple[FactRule, ...] = (
    *identity.RULES,
    *measures.RULES,
    *health.RULES,
    *possessions.RULES,
    *preferences.RULES,
)
_ZH_RULES = tuple(rule for rule in _RULES if not rule.english)
_EN_RULES = tuple(rule for rule in _RULES if rule.english)
_ZH_SIEVE = Sieve([rule.pattern for rule in _ZH_RULES])
_EN_SIEVE = Sieve([rule.pattern for rule in _EN_RULES])
_MIXED_ME = re.compile(r"我\s*(?=[A-Za-z])")
_ENGLISH_I = re.compile(
    r"(?<![a-z])(?:i|my|we|our|me|call|from|over|ideally|preferably|favou?rite|name)(?![a-z])", re.IGNORECASE
)
# "I love the energy", "I like holding them": of the moment, and nothing that could be looked up later.
_SITUATIONAL = re.compile(
    r"^(?:the (?!ocean|sea|beach|mountains?|outdoors|rain|snow|piano|guitar|violin|train|bus|window|aisle|blue|red)"
    r"|to$|not )"
    r"|\b(?:them|this|that|these|those|it|him|you|your|here|there|tomorrow|yesterday)\b|那种|这种|的时候|的感觉|的人|上次|刚才|昨天|[那这][家个部件首本次版款]|第[一二三四五0-9]|前者|后者|[新旧上][版款]"
    r"|^(?:option|version|plan|draft|slide) [a-z0-9]+$"
    "|容易|让人|(?<!音乐)(?<!演唱)(?<![社聚舞酒宴年])会(?=.)",
    re.IGNORECASE,
)
_EDGE_ADVERBIAL = re.compile(
    r"^(?:from now on|going forward|just this once|this time|for now|tonight|today|now|these days|nowadays)[,，]? +"
    r"|,? +(?:from now on|going forward)$",
    re.IGNORECASE,
)
# "Don't set the deadline to Monday" refuses one change, and is no rule.
_ALTERS = re.compile(r"改|调|设|\b(?:change|set|update|modify)\b", re.IGNORECASE)
_POLITE = re.compile(r"^(?:(?:please|pls|plz|just)\s+|请|麻烦)+", re.IGNORECASE)
_ME_NAMED = re.compile(f"^本人(?={ZH_PERSON}$)")
_ME_TOO = re.compile("^(?:俺|本人)(?:们)?")
_LISTS = ("list", "list2", "list3", "list4")
_COUNTS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6"}
_OF_CATEGORY = {"carrier": "carrier", "payment": "payment_method", "diet": "diet"}
_LIKED = frozenset(("drink", "food", "transport", "seat", "activity", "animal"))
_SOME_YEARS = re.compile("year|岁", re.IGNORECASE)
_WAYS = frozenset((FactKind.PREFERENCE, FactKind.CONSTRAINT))
"""Kinds for which "today" and "from now on" tell a one-off from a change."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Something new in the place of something, where only context tells what it is a change of.

    `sort` is what all of which it takes the place of ("我的咖啡都换成拿铁"), where that was said.
    """

    value: str
    replaced: str
    sort: str = ""


class ClauseReader:
    """Reads clauses by one table of attributes; stateless."""

    def __init__(self, table: Mapping[str, Attribute], topics: Topics) -> None:
        self._table = table
        self._topics = topics
        self.named = NamedAttributes(table, topics)

    def read(self, clause: str, reference: datetime | None, *, reported: bool = False) -> list[FactCandidate]:
        """Return what a clause states; spans are of the clause itself.

        Of a reported clause only what it says of the person who said it.
        """
        clause = _ME_TOO.sub("我", _ME_NAMED.sub("我是", clause))
        found = self._read(clause, reference, reported)
        if found or (parts := one_by_one(reworded(clause))) == [clause]:
            return found
        return [as_typed(fact, clause) for part in parts for fact in self._read(part, reference, reported)]

    def _read(self, clause: str, reference: datetime | None, reported: bool) -> list[FactCandidate]:
        found = list(self._relations(clause))
        for other in retold(clause):
            if self._topics.knows(other.subject.removeprefix(f"{PERSON}/").removesuffix("的")):
                continue  # a house is nobody, though 房 is a surname
            stated = [
                fact
                for fact in self._first_person(other.clause)
                if _sound_of_person(fact, other.clause) or (fact.attribute == "age" and is_about_somebody(clause))
            ]
            if stated:
                return found + [replace(fact, subject=_whose(fact, other.subject)) for fact in stated]
        if found or reported or is_about_somebody(clause):
            return found
        return self._framed(clause, self._of_speaker(clause, reference))

    def read_of(self, subject: str, clause: str, *, by_pronoun: bool = False) -> list[FactCandidate]:
        """Return what a clause in the first person states, as facts of another subject.

        "She's 7" is an age where she is somebody; "version is 3" is none.
        """
        for worded in dict.fromkeys((clause, reworded(clause))):
            stated = [
                replace(as_typed(fact, clause), subject=_whose(fact, subject))
                for fact in self._first_person(worded)
                if (by_pronoun and fact.attribute == "age") or _sound_of_person(fact, worded)
            ]
            if stated:
                return stated
        return []

    def switch(self, clause: str) -> Switch | None:
        """Return the switch that a clause tells, whatever it is a switch of; None for other clauses."""
        for index in switches.SIEVE.worth_trying(clause):
            if match := switches.PATTERNS[index].match(clause):
                said = match.groupdict()
                return Switch(match["value"], said.get("replaced") or "", said.get("sort") or "")
        return None

    def make(
        self,
        attribute: str,
        value: Value,
        *,
        topic: str = "",
        polarity: Polarity = Polarity.AFFIRMED,
        strength: Strength = Strength.NORMAL,
        stance: Stance = Stance.STANDING,
        replaced: str = "",
    ) -> FactCandidate:
        """Return a candidate about the speaker; its span is empty."""
        known = self._table[attribute]
        return FactCandidate(
            known.kind,
            f"{USER}/{topic}" if topic else USER,
            attribute,
            value.value,
            value.key,
            value.unit,
            known.single_valued,
            polarity,
            strength,
            stance,
            0,
            0,
            category=category_of(value.value) if known.kind is FactKind.PREFERENCE else None,
            replaces=self._key_of(known, replaced) if replaced else None,
        )

    def value_of(self, attribute: str, written: str, reference: datetime | None) -> Value | None:
        """Return the value that words say for an attribute, None where they do not fit it."""
        return read_value(self._table[attribute], written, reference)

    def _of_speaker(self, clause: str, reference: datetime | None) -> list[FactCandidate]:
        if speech_acts.is_intention(clause):
            return (
                list(self._decisions(clause))
                or list(self._plans(clause, reference))
                or [fact for fact in self._by_rules(clause) if fact.stance is Stance.ONE_OFF]
            )
        plain_clause = _EDGE_ADVERBIAL.sub("", clause)
        return (
            self._named(plain_clause, reference)
            or self._switches(plain_clause, clause)
            or self._by_rules(clause)
            or (self._by_rules(plain_clause) if plain_clause != clause else [])
            or list(self._decisions(plain_clause))
            or list(self._constraints(plain_clause))
            or self._orders(clause, plain_clause)
            or list(self._plans(clause, reference))
        )

    def _first_person(self, clause: str) -> list[FactCandidate]:
        return self._named(clause, None) or self._by_rules(clause)

    def _framed(self, clause: str, facts: list[FactCandidate]) -> list[FactCandidate]:
        """The facts with what "today" and "from now on" in their clause make of them."""
        changes = speech_acts.FROM_NOW_ON.search(clause) is not None or clause[:4].lower() == "now "
        once = not changes and speech_acts.ONE_OFF.search(clause) is not None
        if not (changes or once):
            return facts
        return [
            replace(fact, stance=Stance.CHANGE if changes else Stance.ONE_OFF)
            if fact.stance in (Stance.STANDING, Stance.CHANGE)
            and (fact.kind in _WAYS or (changes and fact.attribute == "name"))
            else fact
            for fact in facts
        ]

    def _relations(self, clause: str) -> Iterator[FactCandidate]:
        for named in named_relations(clause):
            value = text_value(named.name)
            if value is not None:
                yield self.make("relation", value, topic=relation_key(named.relation) or named.relation)

    def _named(self, clause: str, reference: datetime | None) -> list[FactCandidate]:
        stated = self.named.read(clause)
        if stated is None:
            return []
        attribute = stated.attribute
        if stated.stance is Stance.RETRACTION:
            return [self.make(attribute.name, Value("", ""), topic=stated.topic, stance=Stance.RETRACTION)]
        value = read_value(attribute, stated.value, reference)
        if value is None:
            return []
        return [
            self.make(
                attribute.name,
                value,
                topic=stated.topic,
                polarity=Polarity.DENIED if stated.denied else Polarity.AFFIRMED,
                stance=stated.stance,
                replaced=stated.replaced,
            )
        ]

    def _switches(self, clause: str, whole: str) -> list[FactCandidate]:
        """The switch that a clause tells; `whole` is the clause with the words that tell since when."""
        switched = self.switch(clause)
        if switched is None or (switched.sort and not switches.lasts(whole)):
            return []
        written = tidy_thing(switched.value)
        category = category_of(written) or (category_of(switched.sort) if switched.sort else None)
        if category in _OF_CATEGORY:
            attribute = _OF_CATEGORY[category]
        elif category in _LIKED:
            attribute = "likes"
        elif switches.DEVICE.search(written):
            attribute = "owns"
        else:
            return []
        value = text_value(written)
        if value is None:
            return []
        fact = self.make(attribute, value, stance=Stance.CHANGE, replaced=switched.replaced)
        if switched.sort:
            # What was of that sort gives way, and nothing else: a new coffee leaves the tea.
            others = kinds_of(switched.sort, besides=value.key)
            fact = replace(fact, category=category, replaces=ANY_OF.join(others))
        return [fact]

    def _by_rules(self, clause: str) -> list[FactCandidate]:
        if has_han(clause):
            facts = self._first_match(_ZH_RULES, _ZH_SIEVE, clause)
            if facts:
                return facts
            # "我allergic to 花生": Chinese only up to the pronoun.
            clause = _MIXED_ME.sub("I ", clause, count=1)
        return self._first_match(_EN_RULES, _EN_SIEVE, clause) if _ENGLISH_I.search(clause) else []

    def _first_match(self, rules: tuple[FactRule, ...], sieve: Sieve, clause: str) -> list[FactCandidate]:
        for index in sieve.worth_trying(clause):
            rule = rules[index]
            match = rule.pattern.match(clause)
            if match:
                facts = list(self._of_match(rule, groups_of(match)))
                if facts:
                    return facts
        return []

    def _of_match(self, rule: FactRule, groups: dict[str, str]) -> Iterator[FactCandidate]:
        strong = "degree" in groups or "degree2" in groups
        for value in self._values(rule, groups):
            if rule.known and (value is None or category_of(value.value) not in _LIKED):
                continue
            if rule.attribute == "employer" and value is not None and is_place(value.value):
                continue  # "我在上海当老师" names a place, not who employs
            if value is not None:
                # "以后都用支付宝" speaks of the way to pay, as a switch to it does.
                lasting = rule.attribute == "likes" and rule.stance is Stance.CHANGE and not rule.denied
                yield self.make(
                    _OF_CATEGORY.get(category_of(value.value) or "", rule.attribute) if lasting else rule.attribute,
                    value,
                    topic=self._topics.key(groups["topic"]) if "topic" in groups else "",
                    polarity=Polarity.DENIED if rule.denied else Polarity.AFFIRMED,
                    strength=Strength.STRONG if strong else rule.strength,
                    stance=rule.stance,
                    replaced=groups.get("replaced", ""),
                )
        for also in ("job", "school", "hometown"):
            if also in groups and (value := text_value(groups[also])):
                yield self.make(also, value)

    def _values(self, rule: FactRule, groups: dict[str, str]) -> Iterator[Value | None]:
        attribute = self._table[rule.attribute]
        if rule.fixed:
            yield text_value(rule.fixed)
        elif "metres" in groups:
            yield _height(groups["metres"], groups["hundredths"])
        elif "feet" in groups:
            said = plain(
                Decimal(groups["feet"]) * Decimal("30.48") + Decimal(groups.get("inches", "0")) * Decimal("2.54")
            )
            yield Value(said, said, "cm")
        elif "count" in groups:
            count = _COUNTS.get(groups["count"].lower(), groups["count"])
            yield Value(count, count)
        elif "number" in groups:
            yield money(groups) if attribute.value is ValueType.MONEY else measure(attribute, groups)
        elif not groups.keys().isdisjoint(_LISTS):
            for item in things(next(groups[name] for name in _LISTS if name in groups)):
                if not _SITUATIONAL.search(item):
                    liked = attribute.kind is FactKind.PREFERENCE
                    yield text_value(tidy_thing(item) if liked else item)
        else:
            written = groups.get("value") or groups.get("value2") or ""
            if "called" in groups:
                yield text_value(f"{written} ({groups['called'].strip()})")
            elif attribute.value is ValueType.BIRTHDAY:
                yield read_value(attribute, written, None)
            else:
                yield text_value(written)

    def _decisions(self, clause: str) -> Iterator[FactCandidate]:
        found = decided(clause)
        if found and (value := text_value(found[0])):
            yield self.make("decision", value, polarity=Polarity.DENIED if found[1] else Polarity.AFFIRMED)

    def _constraints(self, clause: str) -> Iterator[FactCandidate]:
        for rule in laid_down(clause):
            value = text_value(rule.rule)
            if value is not None and not (_ALTERS.search(rule.rule) and self.named.mentioned(rule.rule)):
                polarity = Polarity.DENIED if rule.denied else Polarity.AFFIRMED
                yield self.make("constraint", value, polarity=polarity, stance=rule.stance)

    def _orders(self, clause: str, plain_clause: str) -> list[FactCandidate]:
        """Of "answer in Chinese from now on": an order that is to hold from now on is a rule."""
        if plain_clause == clause or speech_acts.FROM_NOW_ON.search(clause) is None:
            return []
        order = _POLITE.sub("", plain_clause)
        return list(self._constraints(f"请{order}" if has_han(order[:1]) else f"only {order}"))

    def _plans(self, clause: str, reference: datetime | None) -> Iterator[FactCandidate]:
        plan = planned(clause, reference)
        value = text_value(plan.what) if plan else None
        if plan is None or value is None:
            return
        value = Value(value.value, value_key(plan.base))
        if plan.cancelled:
            yield self.make("plan", value, polarity=Polarity.DENIED, stance=Stance.RETRACTION)
            return
        fact = self.make("plan", value)
        if plan.range is not None:
            fact = replace(fact, valid_from=plan.range.start, valid_to=plan.range.end)
        yield fact

    def _key_of(self, attribute: Attribute, written: str) -> str:
        value = read_value(attribute, written, None)
        return value.key if value else value_key(tidy_thing(written))


def _whose(fact: FactCandidate, subject: str) -> str:
    """The other person's subject with the topic kept: `user/travel` becomes `person/周敏/travel`."""
    return subject + fact.subject.removeprefix(USER)


def _height(metres: str, hundredths: str) -> Value | None:
    whole = int(metres) if metres.isdigit() else spelled_number(metres)
    if hundredths.isdigit():
        part: int | None = int(hundredths)
    elif "十" in hundredths:
        part = spelled_number(hundredths)
    else:
        digits = ["零一二三四五六七八九".index(digit) for digit in hundredths]
        part = int("".join(map(str, digits))) if digits else None
    if whole is None or part is None:
        return None
    if len(hundredths) == 1:
        # 一米七 is 170 cm.
        part *= 10
    said = plain(Decimal(whole * 100 + part))
    return Value(said, said, "cm")


def _sound_of_person(fact: FactCandidate, clause: str) -> bool:
    """Whether a fact read from a retold clause is meant: "Version is 3" gives nobody an age."""
    if fact.attribute == "name":
        return False
    return fact.attribute != "age" or _SOME_YEARS.search(clause) is not None
