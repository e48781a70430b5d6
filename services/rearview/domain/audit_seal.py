"""Seals over audit records: what makes a change of a stored record show.

A seal covers the records of a tenant between two places. It holds a keyed digest of each record, the root of the Merkle
tree over them and the code of the seal before, under a code of its own. All codes are HMAC-SHA256 with a key that only
the lifecycle service has, so that whoever can write to the database can break a seal but not make one.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

DIGEST_BYTES = 32
_LEAF, _SEAL, _WATERMARK, _KEY = b"leaf", b"seal", b"watermark", b"key"


class Place(NamedTuple):
    """Where a record stands in the log: by its time, then its id."""

    at: datetime
    record_id: UUID


START = Place(datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0))
"""Before every record."""


def end_of(moment: datetime) -> Place:
    """Return the place behind all records of a moment."""
    return Place(moment, UUID(int=2**128 - 1))


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A record with everything that a seal covers."""

    record_id: UUID
    recorded_at: datetime
    principal: str
    action: str
    resource_names: tuple[str, ...]
    detail: str
    request_id: str
    trace_id: str

    @property
    def place(self) -> Place:
        """Where it stands in the log."""
        return Place(self.recorded_at, self.record_id)


@dataclass(frozen=True, slots=True)
class AuditSeal:
    """One seal. `number` counts the tenant's seals and `first_sequence` its records, both from 1; the range lies
    behind `after` and reaches to `upto`, the place of the last record; `previous` is empty in the first seal."""

    number: int
    first_sequence: int
    after: Place
    upto: Place
    leaves: tuple[bytes, ...]
    root: bytes
    previous: bytes
    key_id: bytes
    sealed_at: datetime
    code: bytes

    @property
    def next_sequence(self) -> int:
        """The sequence of the first record behind it."""
        return self.first_sequence + len(self.leaves)


class AuditKey:
    """The key of the seals."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.key_id = self._code(_KEY, [])[:8]

    def leaf(self, tenant_id: UUID, sequence: int, entry: AuditEntry) -> bytes:
        """Return the digest of a record at its place in the sequence."""
        return self._code(
            _LEAF,
            [
                str(tenant_id),
                sequence,
                str(entry.record_id),
                _instant(entry.recorded_at),
                entry.principal,
                entry.action,
                list(entry.resource_names),
                entry.detail,
                entry.request_id,
                entry.trace_id,
            ],
        )

    def seal(
        self,
        tenant_id: UUID,
        before: AuditSeal | None,
        after: Place,
        entries: Sequence[AuditEntry],
        sealed_at: datetime,
    ) -> AuditSeal:
        """Return the seal over one record or more that follows another, if any."""
        first = before.next_sequence if before else 1
        leaves = tuple(self.leaf(tenant_id, first + at, entry) for at, entry in enumerate(entries))
        unsigned = AuditSeal(
            number=before.number + 1 if before else 1,
            first_sequence=first,
            after=after,
            upto=entries[-1].place,
            leaves=leaves,
            root=merkle_root(leaves),
            previous=before.code if before else b"",
            key_id=self.key_id,
            sealed_at=sealed_at,
            code=b"",
        )
        return replace(unsigned, code=self._seal_code(tenant_id, unsigned))

    def made(self, tenant_id: UUID, seal: AuditSeal) -> bool:
        """Return whether the seal is one that this key made for the tenant, unchanged."""
        same = hmac.compare_digest(seal.code, self._seal_code(tenant_id, seal))
        return same and merkle_root(seal.leaves) == seal.root

    def watermark(self, until: datetime) -> bytes:
        """Return the code of the statement that everything up to a moment is sealed."""
        return self._code(_WATERMARK, [_instant(until)])

    def _seal_code(self, tenant_id: UUID, seal: AuditSeal) -> bytes:
        return self._code(
            _SEAL,
            [
                str(tenant_id),
                seal.number,
                seal.first_sequence,
                len(seal.leaves),
                *(part for place in (seal.after, seal.upto) for part in (_instant(place.at), str(place.record_id))),
                seal.root.hex(),
                seal.previous.hex(),
                seal.key_id.hex(),
                _instant(seal.sealed_at),
            ],
        )

    def _code(self, purpose: bytes, content: list[object]) -> bytes:
        text = json.dumps(content, separators=(",", ":")).encode()
        return hmac.digest(self._secret, b"rearview.audit." + purpose + b"\0" + text, hashlib.sha256)


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root of the tree over digests; an odd one out goes up a level as it is. Empty without leaves."""
    level = list(leaves)
    while len(level) > 1:
        pairs = [
            hashlib.sha256(b"\1" + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        level = pairs + level[len(pairs) * 2 :]
    return level[0] if level else b""


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
