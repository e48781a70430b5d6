"""Keeps of a model's answer what the text bears out. What a model was talked into saying finds no words to stand on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rearview.adapters.llm.answer_schema import (
    ENTITY_SCHEMA,
    answer_schema,
    conforms,
    fact_schema,
    turn_schema,
)
from rearview.adapters.llm.attempt_failed import broken
from rearview.adapters.llm.fact_candidate import GroundedFact, to_candidate
from rearview.adapters.llm.span_search import SearchableText, Span
from rearview.domain.event import EventRole
from rearview.domain.extraction import Extraction, ExtractionRequest, Provenance, TurnReading, TurnToRead
from rearview.domain.fact import FactCandidate, Polarity, Stance
from rearview.domain.text import Entity, EntityType, Intent, Sentiment
from rearview.ports.fact_grounds import FactGrounds, StatedValue, Statement

MAX_ENTITIES_PER_TURN = 32
MAX_ENTITY_CHARACTERS = 80
MAX_QUOTE_CHARACTERS = 300
MAX_VALUE_CHARACTERS = 60
MAX_NAME_CHARACTERS = 40
_MOST_LOOKED_AT = 2
"""An answer is looked at up to so many times what is kept at most: a model that babbles costs no more than that."""

_USER = "user"
_SPEAKER = frozenset(("user", "speaker", "i", "me", "我", "用户", "本人"))
_PERSON = "person"


class _Dropped(Exception):
    """A part of an answer is not kept; the message is the reason it is counted under."""


class Grounding:
    """Reads one answer against one request."""

    def __init__(
        self, request: ExtractionRequest, grounds: FactGrounds, provenance: Provenance, *, max_facts_per_turn: int
    ) -> None:
        self._request = request
        self._grounds = grounds
        self._provenance = provenance
        self._max_facts = max_facts_per_turn
        self._attributes = grounds.attributes
        self._fact_schema = fact_schema(self._attributes)
        self._dropped: Counter[str] = Counter()

    def read(self, answer: Mapping[str, Any]) -> Extraction:
        """Return the extraction.

        Raises:
            AttemptFailed: the answer as a whole has not the form asked for, or leaves a turn out.
        """
        if not conforms(answer, answer_schema(self._attributes), deep=False):
            raise broken("the answer has not the form asked for")
        form = turn_schema(self._attributes)
        first = len(self._request.earlier) + 1
        turns = dict(enumerate(self._request.turns, start=first))
        entries: dict[int, Mapping[str, Any]] = {}
        for entry in answer["turns"]:
            if not conforms(entry, form, deep=False):
                raise broken("a turn in the answer has not the form asked for")
            number = entry["turn"]
            if number not in turns:
                self._dropped["unknown_turn"] += 1
            elif number in entries:
                self._dropped["repeated_turn"] += 1
            else:
                entries[number] = entry
        if len(entries) != len(turns):
            raise broken("the answer leaves turns out")
        readings = tuple(self._turn(turn, entries[number]) for number, turn in turns.items())
        return Extraction(readings, {reason: count for reason, count in self._dropped.items() if count})

    def _turn(self, turn: TurnToRead, entry: Mapping[str, Any]) -> TurnReading:
        text = SearchableText(turn.text)
        return TurnReading(
            event_id=turn.event_id,
            facts=self._facts(turn, text, entry["facts"]),
            entities=self._entities(turn, text, entry["entities"]),
            intent=Intent(entry["intent"]),
            sentiment=Sentiment(_clamped(entry["valence"], -1.0), _clamped(entry["intensity"], 0.0)),
            provenance=self._provenance,
        )

    def _entities(self, turn: TurnToRead, text: SearchableText, written: Sequence[Any]) -> tuple[Entity, ...]:
        kept: dict[Span, Entity] = {}
        self._dropped["entity_beyond_limits"] += max(len(written) - _MOST_LOOKED_AT * MAX_ENTITIES_PER_TURN, 0)
        for item in written[: _MOST_LOOKED_AT * MAX_ENTITIES_PER_TURN]:
            if not conforms(item, ENTITY_SCHEMA):
                self._dropped["entity_malformed"] += 1
            elif len(kept) >= MAX_ENTITIES_PER_TURN or len(item["text"]) > MAX_ENTITY_CHARACTERS:
                self._dropped["entity_beyond_limits"] += 1
            elif (span := text.find(item["text"])) is None:
                self._dropped["entity_not_in_turn"] += 1
            else:
                words = turn.text[span.start : span.end]
                kept[span] = Entity(
                    EntityType(item["type"]), words, self._grounds.canonical(words), span.start, span.end
                )
        return tuple(sorted(kept.values(), key=lambda entity: (entity.start, entity.end)))

    def _facts(self, turn: TurnToRead, text: SearchableText, written: Sequence[Any]) -> tuple[FactCandidate, ...]:
        kept: dict[tuple[str, str, str, Polarity], FactCandidate] = {}
        self._dropped["too_many"] += max(len(written) - _MOST_LOOKED_AT * self._max_facts, 0)
        for item in written[: _MOST_LOOKED_AT * self._max_facts]:
            try:
                if len(kept) >= self._max_facts:
                    raise _Dropped("too_many")
                candidate = to_candidate(self._grounded(turn, text, item))
                key = (candidate.subject, candidate.attribute, candidate.value, candidate.polarity)
                if key in kept:
                    raise _Dropped("repeated")
                kept[key] = candidate
            except _Dropped as dropped:
                self._dropped[str(dropped)] += 1
        return tuple(sorted(kept.values(), key=lambda fact: (fact.start, fact.end)))

    def _grounded(self, turn: TurnToRead, text: SearchableText, item: Any) -> GroundedFact:
        if turn.role is not EventRole.USER:
            raise _Dropped("untrusted_origin")
        if isinstance(item, dict) and item.get("attribute") not in (*self._attributes,):
            raise _Dropped("unknown_attribute")
        if not conforms(item, self._fact_schema):
            raise _Dropped("malformed")
        quote, written, attribute = item["quote"], item["value"], item["attribute"]
        if len(quote) > MAX_QUOTE_CHARACTERS or len(written or "") > MAX_VALUE_CHARACTERS:
            raise _Dropped("too_long")
        span = text.find(quote)
        if span is None:
            raise _Dropped("quote_not_in_turn")
        stance, polarity = Stance(item["stance"]), Polarity(item["polarity"])
        value_span = text.find(written, within=span) if written else None
        if value_span is None and stance is not Stance.RETRACTION:
            raise _Dropped("value_not_in_quote")
        statement = Statement(
            span.start,
            span.end,
            attribute,
            value_span.start if value_span else span.start,
            denied=polarity is Polarity.DENIED,
        )
        if reason := self._grounds.objection(turn.text, statement):
            raise _Dropped(reason)
        return GroundedFact(
            subject=self._subject(text, item["about"], item["topic"]),
            attribute=attribute,
            value=self._value(turn, attribute, value_span),
            traits=self._attributes[attribute],
            polarity=polarity,
            stance=stance,
            span=span,
        )

    def _value(self, turn: TurnToRead, attribute: str, span: Span | None) -> StatedValue | None:
        if span is None:
            return None
        words = turn.text[span.start : span.end]
        stated = self._grounds.stated_value(attribute, words, reference=turn.occurred_at)
        if stated is None:
            raise _Dropped("no_value_of_the_attribute")
        return stated

    def _subject(self, text: SearchableText, about: str, topic: str | None) -> str:
        if max(len(about), len(topic or "")) > MAX_NAME_CHARACTERS:
            raise _Dropped("too_long")
        if about.strip().lower() not in _SPEAKER:
            if text.find(about) is None:
                raise _Dropped("person_not_in_turn")
            return f"{_PERSON}/{self._grounds.canonical(about)}"
        if not topic:
            return _USER
        spoken = (text, *(SearchableText(turn.text) for turn in self._request.earlier if turn.role is EventRole.USER))
        if all(each.find(topic) is None for each in spoken):
            raise _Dropped("topic_not_in_text")
        return f"{_USER}/{self._grounds.topic(topic)}"


def _clamped(number: float, least: float) -> float:
    return float(min(max(number, least), 1.0))
