"""Searching segments: the vector, keyword, entity and time routes over their index parts."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numkong
import numpy as np
from numpy.typing import NDArray

from rearview.adapters.cold.segment_index import SegmentIndex, microseconds
from rearview.domain.cold import NO_HITS, ColdHits, ColdQuestion, Segment
from rearview.domain.search_unit import UnitFlag
from rearview.domain.stored_vector import coded, decoded

VECTOR, KEYWORD, ENTITY, TIME = 1, 2, 4, 8

Scores = NDArray[np.float32] | NDArray[np.float64]

_MICROSECONDS = 1_000_000.0


class _Best:
    """The best units of a route's list, of all segments that were looked through so far."""

    def __init__(self, route: int, limit: int) -> None:
        self.route = route
        self.places = np.empty(0, np.int64)
        self._scores = np.empty(0)
        self._limit = limit
        self._floor = -np.inf

    def add(self, candidates: NDArray[np.bool_], scores: Scores, first: int) -> None:
        """Take in the candidates of a segment whose units are numbered from `first` on."""
        # Most are worse than what is there: they are passed over before anything is sorted.
        units = np.flatnonzero(candidates & (scores > self._floor))
        if not len(units):
            return
        places, best = np.concatenate([self.places, first + units]), np.concatenate([self._scores, scores[units]])
        if len(best) > self._limit:
            kept = np.argpartition(-best, self._limit - 1)[: self._limit]
            places, best = places[kept], best[kept]
        self.places, self._scores = places, best
        if len(best) == self._limit:
            self._floor = float(best.min())


class SegmentSearch:
    """What segments hold for a question: at most `limit` units a route and language over all of them.

    They are chosen by the question's vector in eight bits, and have the cosine of their own codes with the whole one.
    """

    def __init__(self, parts: Sequence[tuple[Segment, SegmentIndex]], question: ColdQuestion) -> None:
        """Look through the segments by vector, keyword and time."""
        self._parts = parts
        self._question = question
        self._firsts = np.cumsum([0, *(len(index.scales) for _, index in parts)])
        self._live = [_live(segment, index, question) for segment, index in parts]
        self._keywords = [_keyword_scores(index, question) for _, index in parts]
        self._order: Sequence[Scores] = self._keywords
        self._lists: list[_Best] = []
        if question.vector is not None:
            self._order = [_similarities(index, question.vector) for _, index in parts]
            for language in question.languages:
                among = [of_language(index.flags, language) for _, index in parts]
                self._add(VECTOR, among, self._order)
        if question.weights:
            self._add(KEYWORD, [scores > 0 for scores in self._keywords], self._keywords)
        if question.ranges:
            self._add(TIME, [_within(index, question) for _, index in parts], self._order)

    def hits(self, named: frozenset[UUID] = frozenset()) -> ColdHits:
        """Return what was found, and the units of memories that mention one of the question's entities."""
        if named:
            self._add(ENTITY, [_units_of(index, named) for _, index in self._parts], self._order)
        places, routes = _merged(self._lists)
        bounds = np.searchsorted(places, self._firsts)
        found = [
            _hits(index, places[start:end] - first, routes[start:end], keywords, self._question.vector)
            for (_, index), keywords, first, start, end in zip(
                self._parts, self._keywords, self._firsts[:-1], bounds[:-1], bounds[1:], strict=True
            )
            if start < end
        ]
        return ColdHits(*(np.concatenate(column) for column in zip(*found, strict=True))) if found else NO_HITS

    def _add(self, route: int, among: Sequence[NDArray[np.bool_]], scores: Sequence[Scores]) -> None:
        best = _Best(route, self._question.limit)
        for live, one, values, first in zip(self._live, among, scores, self._firsts[:-1], strict=True):
            best.add(live & one, values, first)
        self._lists.append(best)


def _merged(lists: Sequence[_Best]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places that any list holds, ascending, and the routes of each."""
    if not lists:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    every = np.concatenate([one.places for one in lists])
    places, at = np.unique(every, return_inverse=True)
    routes = np.zeros(len(places), np.int64)
    np.bitwise_or.at(routes, at, np.repeat([one.route for one in lists], [len(one.places) for one in lists]))
    return places, routes


def _hits(
    index: SegmentIndex,
    units: NDArray[np.int64],
    routes: NDArray[np.int64],
    keywords: NDArray[np.float64],
    vector: NDArray[np.float32] | None,
) -> tuple[NDArray[Any], ...]:
    """Return the columns of `ColdHits` of some units of a segment."""
    memories = index.memory_ids[index.unit_memory[units]]
    return (
        memories.view(np.uint8).reshape(-1, 16),
        index.unit_ids[units],
        index.occurred[units] / _MICROSECONDS,
        index.speakers[units].astype(np.int64),
        index.flags[units].astype(np.int64),
        routes,
        np.full(len(units), np.nan) if vector is None else _cosines(index, units, vector),
        keywords[units],
    )


def _live(segment: Segment, index: SegmentIndex, question: ColdQuestion) -> NDArray[np.bool_]:
    rows = np.ones(index.memory_count, bool)
    rows[list(segment.dead)] = False
    live: NDArray[np.bool_] = rows[index.unit_memory]
    if question.allowed is not None:
        live &= _units_of(index, question.allowed)
    if question.start is not None:
        live &= index.occurred >= microseconds(question.start)
    if question.end is not None:
        live &= index.occurred < microseconds(question.end)
    return live


def _within(index: SegmentIndex, question: ColdQuestion) -> NDArray[np.bool_]:
    told = np.zeros(len(index.occurred), np.bool_)
    for start, end in question.ranges:
        told |= (index.occurred >= microseconds(start)) & (index.occurred < microseconds(end))
    return told


def of_language(flags: NDArray[np.int16] | NDArray[np.int64], language: int) -> NDArray[np.bool_]:
    """Return what is in a language's list, as in the tables: of Chinese what holds some, of English all else, and what
    holds both in both."""
    if language == 0:
        return np.ones(len(flags), np.bool_)
    chinese: NDArray[np.bool_] = flags & int(UnitFlag.CHINESE) != 0
    return chinese if language == int(UnitFlag.CHINESE) else ~chinese | (flags & int(UnitFlag.ENGLISH) != 0)


def _similarities(index: SegmentIndex, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    if not len(index.scales):
        return np.empty(0, np.float32)
    codes, scales = coded(vector.astype(np.float16)[None, :])
    dots: NDArray[np.float64] = np.asarray(numkong.cdist(index.codes, codes, "dot"))[:, 0]
    similarities: NDArray[np.float32] = dots.astype(np.float32) * (index.scales * scales[0])
    return similarities


def _cosines(index: SegmentIndex, units: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    stored = decoded(index.codes[units], index.scales[units]).astype(np.float32)
    norms = np.linalg.norm(stored, axis=1)
    cosines: NDArray[np.float64] = (stored @ vector / np.where(norms > 0, norms, 1)).astype(np.float64)
    return cosines


def _keyword_scores(index: SegmentIndex, question: ColdQuestion) -> NDArray[np.float64]:
    scores = np.zeros(len(index.scales))
    for term, weight in question.weights.items():
        units, weights = index.postings_of(term)
        scores[units] += weight * weights
    return scores


def _units_of(index: SegmentIndex, memory_ids: frozenset[UUID]) -> NDArray[np.bool_]:
    ids = np.frombuffer(b"".join(memory_id.bytes for memory_id in memory_ids), "S16")
    rows = np.zeros(index.memory_count, np.bool_)
    rows[index.rows_of(ids)] = True
    units: NDArray[np.bool_] = rows[index.unit_memory]
    return units
