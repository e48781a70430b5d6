"""Pages of a list (AIP-158)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many rows, after which position. `after` is the position of the last row of the page before, as its
    sort key's texts; empty on the first page. The RPC layer signs positions into opaque page tokens."""

    size: int = DEFAULT_PAGE_SIZE
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Rows, and the position after which the next page starts; empty on the last page."""

    rows: Sequence[T]
    next_after: tuple[str, ...] = ()
