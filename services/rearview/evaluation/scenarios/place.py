"""Who acts where in a step, and calls made at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from rearview.client import Client
from rearview.evaluation.ingest import wait_until_indexed
from rearview.evaluation.scenarios.stage import Stage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Who acts, and in which namespace, by its id; `keeper` is whoever the namespace belongs to."""

    stage: Stage
    client: Client
    keeper: Client
    namespace: str

    def settle(self) -> None:
        """Return when every turn of the namespace has been indexed or dropped."""
        wait_until_indexed(self.keeper, self.namespace, lambda _: None)


def at_once(call: Callable[[], T], times: int) -> list[T]:
    """Make a call that often at the same moment and return all answers.

    Raises:
        RearviewError: one of the calls failed.
    """
    with ThreadPoolExecutor(times) as calls:
        return [one.result() for one in [calls.submit(call) for _ in range(times)]]
