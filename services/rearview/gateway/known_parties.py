"""Whose turn a call takes before its credential is proven: that of the tenant whose credential it was the last time.

Proving a credential takes the database, which is what has to be spared when there are too many calls. Knowing a party
gives no right but a place in its queue, and only who presents the very credential has it; all credentials that were
never proven share one.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress

from rearview.domain.errors import Unauthenticated
from rearview.gateway.presented_credential import presented_credential

STRANGERS = ""
MOST_CREDENTIALS = 10_000


class KnownParties:
    """Remembers the tenants of credentials, as hashes, of which `most` that were seen last."""

    def __init__(self, most: int = MOST_CREDENTIALS) -> None:
        self._most = most
        self._parties: OrderedDict[bytes, str] = OrderedDict()

    def party_of(self, metadata: Iterable[tuple[str, str | bytes]]) -> str:
        """Return the party of a call by its metadata; STRANGERS unless its credential was proven before."""
        with suppress(Unauthenticated):
            return self._parties.get(_digest(metadata), STRANGERS)
        return STRANGERS

    def learn(self, metadata: Iterable[tuple[str, str | bytes]], party: str) -> None:
        """Remember whose credential this is; it has been proven."""
        digest = _digest(metadata)
        self._parties[digest] = party
        self._parties.move_to_end(digest)
        if len(self._parties) > self._most:
            self._parties.popitem(last=False)


def _digest(metadata: Iterable[tuple[str, str | bytes]]) -> bytes:
    return hashlib.sha256(presented_credential(metadata).encode("utf-8", "replace")).digest()
