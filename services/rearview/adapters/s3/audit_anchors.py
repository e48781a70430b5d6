"""Small objects that say how far the audit log is sealed: `audit/{tenant}/head` and `audit/watermark`."""

import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from rearview.domain.audit_seal import AuditKey
from rearview.domain.errors import NotFound
from rearview.ports.audit_seals import Head
from rearview.ports.cold_store import ColdObjects

_WATERMARK = "audit/watermark"


class ObjectAuditAnchors:
    """The `AuditAnchors` port."""

    def __init__(self, objects: ColdObjects, key: AuditKey) -> None:
        self._objects = objects
        self._key = key

    async def head(self, tenant_id: UUID) -> Head | None:
        """Return a tenant's head; one that cannot be read counts as none."""
        content = await self._read(_head_key(tenant_id))
        try:
            return Head(int(content["number"]), bytes.fromhex(content["code"]))
        except (KeyError, TypeError, ValueError):
            return None

    async def note_head(self, tenant_id: UUID, head: Head) -> None:
        """Write a tenant's head."""
        await self._write(_head_key(tenant_id), {"number": head.number, "code": head.code.hex()})

    async def watermark(self) -> datetime | None:
        """Return the watermark if its code is right."""
        content = await self._read(_WATERMARK)
        try:
            until = datetime.fromisoformat(content["until"])
            code = bytes.fromhex(content["code"])
        except (KeyError, TypeError, ValueError):
            return None
        return until if hmac.compare_digest(code, self._key.watermark(until)) else None

    async def note_watermark(self, until: datetime) -> None:
        """Write the watermark."""
        await self._write(_WATERMARK, {"until": until.isoformat(), "code": self._key.watermark(until).hex()})

    async def _read(self, key: str) -> Mapping[str, Any]:
        try:
            content = json.loads(await self._objects.get(key))
        except (NotFound, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    async def _write(self, key: str, content: Mapping[str, object]) -> None:
        # In a bucket with versions each write leaves the one before; those that were there are of no use any more.
        old = [version async for page in self._objects.versions(key) for version in page if version.key == key]
        await self._objects.put(key, json.dumps(content).encode())
        await self._objects.delete_versions([version for version in old if version.version_id])


def _head_key(tenant_id: UUID) -> str:
    return f"audit/{tenant_id}/head"
