"""When an issuer is asked for its keys, and what serves while it does not answer."""

import asyncio
import json

import pytest

from rearview.adapters.jwks.cached_keys import STALE_SECONDS, CachedSigningKeys
from rearview.domain.errors import Unavailable
from tests.support.issuer import Issuer
from tests.support.waiting import wait_until

REFRESH, RETRY = 300.0, 10.0


class Place:
    """A key set that can be changed and taken away, with a clock that is moved by hand."""

    def __init__(self) -> None:
        self.issuer = Issuer()
        self.issuer.new_key("first", "EdDSA")
        self.reads = 0
        self.down = False
        self.now = 1_000.0
        self.outcomes: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.keys = CachedSigningKeys(
            self.read,
            refresh_seconds=REFRESH,
            retry_seconds=RETRY,
            on_refresh=self.outcomes.append,
            monotonic=lambda: self.now,
        )

    async def read(self) -> bytes:
        self.reads += 1
        await self.gate.wait()
        if self.down:
            raise Unavailable("the issuer does not answer", dependency="jwks")
        return json.dumps({"keys": self.issuer.published}).encode()

    async def ended(self, readings: int) -> None:
        """Return when so many readings have ended."""
        await wait_until(lambda: len(self.outcomes) >= readings, "a reading")

    async def knows(self, key_id: str) -> bool:
        return await self.keys.find(key_id) is not None


async def test_keys_are_read_once_and_together() -> None:
    place = Place()
    place.gate.clear()
    asking = [asyncio.create_task(place.knows("first")) for _ in range(50)]
    await asyncio.sleep(0)
    place.gate.set()
    assert all(await asyncio.gather(*asking))
    assert all([await place.knows("first") for _ in range(50)])
    assert place.reads == 1


async def test_made_up_key_ids_do_not_make_it_ask_all_the_time() -> None:
    place = Place()
    assert await place.knows("first")
    for number in range(100):
        assert not await place.knows(f"made up {number}")
    assert place.reads == 1
    place.now += RETRY
    for number in range(100):
        assert not await place.knows(f"made up {number}")
    assert place.reads == 2


async def test_a_new_key_is_found_and_an_old_one_is_gone_after_the_refresh() -> None:
    place = Place()
    assert await place.knows("first")
    place.issuer.new_key("second", "EdDSA")
    place.now += RETRY
    assert await place.knows("second")
    place.issuer.withdraw("first")
    place.now += REFRESH
    assert await place.knows("first")  # nobody waits for the refresh, which this begins
    await place.ended(3)
    assert not await place.knows("first")
    assert await place.knows("second")


async def test_known_keys_serve_for_an_hour_while_the_issuer_does_not_answer() -> None:
    place = Place()
    assert await place.knows("first")
    place.down = True
    place.now += REFRESH + STALE_SECONDS - 1
    assert await place.knows("first")
    await place.ended(2)
    place.now += RETRY
    with pytest.raises(Unavailable) as refused:
        await place.knows("first")
    assert refused.value.retry_after_seconds == RETRY
    reads = place.reads
    for _ in range(20):
        with pytest.raises(Unavailable):
            await place.knows("first")
    assert place.reads == reads
    place.down = False
    place.now += RETRY
    assert await place.knows("first")
    assert set(place.outcomes) == {"ok", "unavailable"}


async def test_a_caller_that_gives_up_does_not_end_the_reading_for_the_others() -> None:
    place = Place()
    place.gate.clear()
    first, second = (asyncio.create_task(place.knows("first")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    place.gate.set()
    assert await second
    assert place.reads == 1


async def test_it_closes_while_it_reads() -> None:
    place = Place()
    place.gate.clear()
    waiting = asyncio.create_task(place.knows("first"))
    await asyncio.sleep(0)
    await place.keys.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
