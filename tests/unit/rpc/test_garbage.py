"""What a process holds when it begins to serve is never walked through again; what comes later is still collected."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from rearview.rpc.garbage import spare_what_is_loaded


class _Knot:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_what_is_there_is_spared_and_what_comes_later_is_collected() -> None:
    before = weakref.ref(_Knot())
    spare_what_is_loaded()
    assert before() is None
    assert gc.get_freeze_count() > 10_000
    assert len(gc.get_objects()) < 1_000
    later = weakref.ref(_Knot())
    gc.collect()
    assert later() is None
