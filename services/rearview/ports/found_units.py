"""What a search found, in columns: hundreds of units are found for each that is returned."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rearview.domain.recall import Route

INDEXED_ROUTES = (Route.VECTOR, Route.KEYWORD, Route.ENTITY, Route.TIME)


def route_bit(route: Route) -> int:
    """Return the bit by which a route stands in a row's routes."""
    return 1 << (route - 1)


def routes_of(bits: int) -> frozenset[Route]:
    """Return the routes of a row."""
    return _ROUTES[bits]


_ROUTES = [frozenset(route for route in Route if bits & route_bit(route)) for bits in range(2 * route_bit(max(Route)))]


@dataclass(frozen=True, slots=True, eq=False)
class FoundUnits:
    """Search units found, a row each, with both text scores.

    Attributes:
        unit_ids, memory_ids: n each.
        occurred_at: (n,) float64, Unix seconds.
        speaker, flags: (n,) int64, as in the index.
        routes: (n,) int64, bits of `route_bit`.
        similarity: (n,) float64, NaN without a vector.
        keyword_score: (n,) float64.
        translation_score: (n,) float64, of units of another language than the query's: what they say of its translated
            words, as their keyword scores say of its own. 0 for others, and for what is cold.
        memory_type: (n,) int64, numbers of MemoryType.
        intensity: (n,) float64.
        pinned: (n,) bool.
        priority: (n,) float64.
        used_at: (n,) float64, the memory's last write or read, Unix seconds.
        access_count: (n,) int64.
        entity_matches: n; which of the query's entities the memory mentions.
    """

    unit_ids: Sequence[UUID]
    memory_ids: Sequence[UUID]
    occurred_at: NDArray[np.float64]
    speaker: NDArray[np.int64]
    flags: NDArray[np.int64]
    routes: NDArray[np.int64]
    similarity: NDArray[np.float64]
    keyword_score: NDArray[np.float64]
    translation_score: NDArray[np.float64]
    memory_type: NDArray[np.int64]
    intensity: NDArray[np.float64]
    pinned: NDArray[np.bool_]
    priority: NDArray[np.float64]
    used_at: NDArray[np.float64]
    access_count: NDArray[np.int64]
    entity_matches: Sequence[Sequence[str]]

    def __len__(self) -> int:
        return len(self.unit_ids)

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[Any]]) -> "FoundUnits":
        """Return units given as rows, their values in the order of the attributes."""
        return cls.of_columns(list(zip(*rows, strict=True)) if rows else [()] * len(_TYPES))

    @classmethod
    def of_columns(cls, columns: Sequence[Sequence[Any] | NDArray[Any]]) -> "FoundUnits":
        """Return units given as columns, in the order of the attributes."""
        typed: list[Any] = [
            column if kind is None else np.array(column, dtype=kind)
            for column, kind in zip(columns, _TYPES, strict=True)
        ]
        return cls(*typed)

    def rows(self, chosen: Iterable[int]) -> list[tuple[Any, ...]]:
        """Return some of the units as rows."""
        columns = [getattr(self, name) for name in self.__slots__]
        return [tuple(column[at] for column in columns) for at in chosen]


# By attribute; None for what stays a sequence of Python objects.
_TYPES: tuple[type[np.generic] | None, ...] = (
    None,
    None,
    np.float64,
    np.int64,
    np.int64,
    np.int64,
    np.float64,
    np.float64,
    np.float64,
    np.int64,
    np.float64,
    np.bool_,
    np.float64,
    np.float64,
    np.int64,
    None,
)

NO_UNITS = FoundUnits.of_rows([])


def of_all_tiers(parts: Sequence[FoundUnits], limit: int) -> FoundUnits:
    """Return the units of several tables as if one had been searched: each once, and of each route not more than
    `limit`. Where several hold a unit, the first counts."""
    filled = [part for part in parts if len(part)]
    if len(filled) <= 1:
        return filled[0] if filled else NO_UNITS
    rows: dict[UUID, tuple[Any, ...]] = {}
    for part in filled:
        for row in part.rows(range(len(part))):
            rows.setdefault(row[0], row)
    units = FoundUnits.of_rows(list(rows.values()))
    kept = np.zeros(len(units), dtype=np.int64)
    for route in INDEXED_ROUTES:
        of_route = np.flatnonzero(units.routes & route_bit(route))
        worth = units.keyword_score if route is Route.KEYWORD else np.nan_to_num(units.similarity, nan=-np.inf)
        best = of_route[np.argsort(-worth[of_route], kind="stable")[:limit]]
        kept[best] |= route_bit(route)
    chosen = np.flatnonzero(kept)
    return FoundUnits.of_rows(
        [(*row[:5], int(kept[at]), *row[6:]) for at, row in zip(chosen, units.rows(chosen), strict=True)]
    )
