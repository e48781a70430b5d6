"""Searching segments: the vector, keyword, entity and time routes over their index parts."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numkong
import numpy as np
from numpy.typing import NDArray

from rearview.adapters.cold.segment_format import SegmentIndex, microseconds
from rearview.domain.cold import NO_HITS, ColdHits, ColdQuestion, Segment
from rearview.domain.search_unit import UnitFlag
from rearview.domain.stored_vector import coded, decoded

VECTOR, KEYWORD, ENTITY, TIME = 1, 2, 4, 8

_MICROSECONDS = 1_000_000.0


class _Best:
    """The best units of a route's list, of all segments that were looked through so far."""

    def __init__(self, route: int, language: int, limit: int) -> None:
        self.route, self.language = route, language
        self.places = np.empty(0, np.int64)
        self._scores = np.empty(0)
        self._limit = limit
        self._floor = -np.inf

    def add(self, candidates: NDArray[np.bool_], scores: NDArray[np.float32] | NDArray[np.float64], first: int) -> None:
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


def search_segments(parts: Sequence[tuple[Segment, SegmentIndex]], question: ColdQuestion) -> ColdHits:
    """Return the units that segments hold for a question, at most `limit` a route and language over all of them.

    They are chosen by the question's vector in eight bits, and have the cosine of their own codes with the whole one.
    """
    near = [] if question.vector is None else [_Best(VECTOR, one, question.limit) for one in question.languages]
    keyword, named, told = (_Best(route, 0, question.limit) for route in (KEYWORD, ENTITY, TIME))
    firsts = np.cumsum([0, *(len(index.scales) for _, index in parts)])
    scores: list[NDArray[np.float64]] = []
    for (segment, index), first in zip(parts, firsts.tolist(), strict=False):
        live, keywords = _live(segment, index, question), _keyword_scores(index, question)
        scores.append(keywords)
        order: NDArray[np.float32] | NDArray[np.float64] = keywords
        if question.vector is not None:
            order = _similarities(index, question.vector)
            for one in near:
                one.add(live & _of_language(index.flags, one.language), order, first)
        if question.weights:
            keyword.add(live & (keywords > 0), keywords, first)
        if question.named:
            mentioning = np.isin(index.memory_ids, _ids(question.named))[index.unit_memory]
            named.add(live & mentioning, order, first)
        if question.ranges:
            told.add(live & _within(index, question), order, first)
    places, routes = _merged([*near, keyword, named, told])
    bounds = np.searchsorted(places, firsts)
    found = [
        _hits(index, places[start:end] - first, routes[start:end], keywords, question.vector)
        for (_, index), keywords, first, start, end in zip(
            parts, scores, firsts.tolist(), bounds.tolist(), bounds[1:].tolist(), strict=False
        )
        if start < end
    ]
    return ColdHits(*(np.concatenate(column) for column in zip(*found, strict=True))) if found else NO_HITS


def _merged(lists: Sequence[_Best]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places that any list holds, ascending, and the routes of each."""
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
    if question.allowed is not None:
        rows &= np.isin(index.memory_ids, _ids(question.allowed))
    live: NDArray[np.bool_] = rows[index.unit_memory]
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


def _of_language(flags: NDArray[np.int16], language: int) -> NDArray[np.bool_]:
    """Return what is in a language's list, as in the tables: of Chinese what holds some, of English all else, and what
    holds both in both."""
    if language == 0:
        return np.ones(len(flags), np.bool_)
    chinese: NDArray[np.bool_] = flags & int(UnitFlag.CHINESE) != 0
    return chinese if language == int(UnitFlag.CHINESE) else ~chinese | (flags & int(UnitFlag.ENGLISH) != 0)


def _similarities(index: SegmentIndex, vector: NDArray[np.float32]) -> NDArray[np.float32]:
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


def _ids(memory_ids: frozenset[UUID]) -> NDArray[np.bytes_]:
    return np.frombuffer(b"".join(memory_id.bytes for memory_id in memory_ids), "S16")
