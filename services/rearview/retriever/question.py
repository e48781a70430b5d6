"""From a recall request to what the store is asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from rearview.domain.bm25 import query_terms
from rearview.domain.event import EventRole
from rearview.domain.fusion import widened
from rearview.domain.principal import Scope
from rearview.domain.recall import QueryTurn, RecallQuery, Route
from rearview.domain.scoring import Profile, profile_named
from rearview.domain.search_unit import language_flags
from rearview.domain.text import Entity, EntityType, Language, TimeRange
from rearview.domain.translated_words import NO_TRANSLATION, TranslatedWords
from rearview.domain.turn_filter import admits_turns, admitted_roles
from rearview.ports.keyword_hasher import KeywordHasher
from rearview.ports.query_reader import QueryReader, ReadQuery
from rearview.ports.recall_store import Search

CANDIDATES_PER_ROUTE = 100

NEWEST_TURNS = 3
NEWEST_SINCE = timedelta(minutes=10)
"""So many of the user's unindexed turns are looked for whatever their words, and so long ago they may have been said:
imports of older talks are no news."""

ASSISTANT_TURNS = 2
ASSISTANT_WEIGHT = 0.5
"""Of a dialogue, the other side's last turns count too, half: they hold what the user's "yes, that one" refers to."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a request asks for, the same in every namespace. `texts` are searched by keyword, `text` is understood.

    `texts` stand with their weights; `asked_at` is the caller's time in their zone. `identifiers` (codes, order
    numbers) and `names` are folded as texts are, to be looked for in them."""

    text: str
    texts: tuple[tuple[str, float], ...]
    is_dialogue: bool
    languages: frozenset[Language]
    entity_keys: tuple[str, ...]
    time_ranges: tuple[TimeRange, ...]
    asks_when: bool
    question_type: str
    profile: Profile
    now: datetime
    asked_at: datetime
    identifiers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    asks_past: bool = False


class QuestionReader:
    """Understands requests."""

    def __init__(self, reader: QueryReader, hasher: KeywordHasher) -> None:
        self._reader = reader
        self._hasher = hasher

    def question(self, query: RecallQuery, now: datetime) -> Question:
        """Return what a request asks for. Of a dialogue, the user's last turn is understood and all are searched by.

        Raises:
            InvalidFields: there is no such profile.
        """
        texts = ((query.text, 1.0),) if query.text else _weighted_turns(query.dialogue)
        asked = query.text or _last_said(query.dialogue)
        asked_at = query.reference_time.astimezone(ZoneInfo(query.time_zone))
        read = self._reader.read(asked, reference=asked_at)
        off = query.disabled_routes
        return Question(
            text=asked,
            texts=texts,
            is_dialogue=not query.text,
            languages=read.languages,
            entity_keys=()
            if Route.ENTITY in off
            else tuple(dict.fromkeys(entity.canonical for entity in read.entities)),
            time_ranges=() if Route.TIME in off else read.time_ranges,
            asks_when=read.asks_when,
            question_type=read.question_type,
            profile=profile_named(query.profile),
            now=now,
            asked_at=asked_at,
            identifiers=self._folded(read, _is_identifier),
            names=self._folded(read, _is_name),
            asks_past=read.asks_past,
        )

    def _folded(self, read: ReadQuery, wanted: Callable[[Entity], bool]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._reader.folded(entity.text) for entity in read.entities if wanted(entity)))

    def searches(
        self, query: RecallQuery, question: Question, scopes: Sequence[Scope], vector: NDArray[np.float32] | None
    ) -> list[Search]:
        """Return what to look for in each namespace."""
        filter_keys = tuple(self._reader.canonical_entity(entity) for entity in query.filter.entities)
        told = [widened(time_range) for time_range in question.time_ranges]
        raw_turns = Route.RAW_TURNS not in query.disabled_routes and admits_turns(query.filter)
        roles = admitted_roles(query.filter)
        wants_newest = raw_turns and not query.as_of and (roles is None or EventRole.USER in roles)
        return [
            Search(
                scope=scope,
                terms=query_terms(
                    [
                        (hashed, weight)
                        for text, weight in question.texts
                        for hashed in self._hasher.keywords(scope.namespace_id, text)
                    ]
                ),
                translated=self._translated(query, question, scope),
                languages=language_flags(question.languages),
                vector=vector,
                folded_query=self._reader.folded(question.text),
                now=question.now,
                keyword_route=Route.KEYWORD not in query.disabled_routes,
                entity_keys=question.entity_keys,
                time_ranges=tuple((time_range.start, time_range.end) for time_range in told),
                filter=query.filter,
                filter_entity_keys=filter_keys,
                turn_roles=roles,
                raw_turns=raw_turns,
                as_of=query.as_of,
                limit=CANDIDATES_PER_ROUTE,
                newest_since=question.now - NEWEST_SINCE if wants_newest and at == 0 else None,
                newest_limit=NEWEST_TURNS,
            )
            for at, scope in enumerate(scopes)
        ]

    def _translated(self, query: RecallQuery, question: Question, scope: Scope) -> TranslatedWords:
        # What is asked in both languages finds texts of both by its own words.
        if Route.KEYWORD in query.disabled_routes or len(question.languages) != 1:
            return NO_TRANSLATION
        return TranslatedWords(
            tuple(
                (weight, found)
                for text, weight in question.texts
                for found in self._hasher.translations(scope.namespace_id, text)
            )
        )


def _is_identifier(entity: Entity) -> bool:
    return entity.type is EntityType.IDENTIFIER


def _is_name(entity: Entity) -> bool:
    # Capitals alone tell persons here, and they begin sentences too; two words of them are somebody's full name.
    return entity.type is EntityType.PERSON or (
        entity.type is EntityType.OTHER and entity.text.istitle() and " " in entity.text
    )


def _weighted_turns(dialogue: Sequence[QueryTurn]) -> tuple[tuple[str, float], ...]:
    said = [(turn.content, 1.0) for turn in dialogue if turn.role is EventRole.USER]
    others = [turn.content for turn in dialogue if turn.role is not EventRole.USER]
    if not said:
        return tuple((content, 1.0) for content in others)
    return (*said, *((content, ASSISTANT_WEIGHT) for content in others[-ASSISTANT_TURNS:]))


def _last_said(dialogue: Sequence[QueryTurn]) -> str:
    said = [turn.content for turn in dialogue if turn.role is EventRole.USER]
    return said[-1] if said else dialogue[-1].content
