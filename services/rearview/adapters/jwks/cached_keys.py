"""An issuer's keys, kept in memory: read again now and then, and when a token names one that is not known.

An issuer rotates its keys by publishing the new one some time before it signs with it, and removing the old one some
time after. A key that is not known yet is asked for at once, but not more often than every few seconds, so that
tokens with made-up ids cannot make this process ask all the time.
"""

import asyncio
import time
from collections.abc import Callable

import structlog

from rearview.adapters.jwks.key_set import parse_key_set
from rearview.adapters.jwks.sources import ReadKeySet
from rearview.domain.errors import Unavailable
from rearview.ports.signing_keys import VerificationKey

STALE_SECONDS = 3_600.0
"""For how long keys serve on whose refresh fails; beyond, a key that the issuer took back might still be in use."""

_log = structlog.get_logger(__name__)


class CachedSigningKeys:
    """Implements `SigningKeys`. At most one reading is under way; those who need its result wait for it together."""

    def __init__(
        self,
        read: ReadKeySet,
        *,
        refresh_seconds: float,
        retry_seconds: float,
        on_refresh: Callable[[str], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_refresh` is told how each reading ended: `ok`, `unavailable` or `invalid`."""
        self._read = read
        self._refresh_seconds = refresh_seconds
        self._retry_seconds = retry_seconds
        self._on_refresh = on_refresh
        self._monotonic = monotonic
        self._keys: dict[str, VerificationKey] = {}
        self._read_at = float("-inf")
        self._asked_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> VerificationKey | None:
        age = self._monotonic() - self._read_at
        if age >= self._refresh_seconds + STALE_SECONDS:
            await self._refresh()
            if self._monotonic() - self._read_at >= self._refresh_seconds + STALE_SECONDS:
                raise Unavailable(
                    "the keys of tokens cannot be read", dependency="jwks", retry_after_seconds=self._retry_seconds
                )
        elif age >= self._refresh_seconds:
            self._begin_refresh()  # nobody waits: what is known serves until then
        if key_id not in self._keys:
            await self._refresh()
        return self._keys.get(key_id)

    async def close(self) -> None:
        """End a reading that is under way."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _refresh(self) -> None:
        self._begin_refresh()
        if self._reading is not None:
            await asyncio.shield(self._reading)

    def _begin_refresh(self) -> None:
        if self._reading is None and self._monotonic() - self._asked_at >= self._retry_seconds:
            self._asked_at = self._monotonic()
            self._reading = asyncio.create_task(self._read_keys())
            self._reading.add_done_callback(lambda _: self._reading_ended())

    def _reading_ended(self) -> None:
        self._reading = None

    async def _read_keys(self) -> None:
        try:
            keys = parse_key_set(await self._read())
        except Unavailable as error:
            _log.warning("the keys of tokens were not read", problem=error.message)
            self._on_refresh("unavailable")
        except ValueError as error:
            _log.warning("the keys of tokens were not read", problem=f"the key set {error}")
            self._on_refresh("invalid")
        else:
            self._keys, self._read_at = keys, self._monotonic()
            self._on_refresh("ok")
