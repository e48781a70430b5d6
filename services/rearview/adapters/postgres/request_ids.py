"""Request ids: a repeated request finds what the first one did, and another request under the same id is refused."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.queries import load_queries
from rearview.domain.errors import RequestIdReused
from rearview.domain.writing import RequestKey

_SQL = load_queries("request_ids")


async def earlier_result(
    connection: Connection, tenant_id: UUID, request: RequestKey | None
) -> Mapping[str, object] | None:
    """Return the ids that this request led to the first time, None when it is the first time.

    The id stays locked until the transaction ends, so a concurrent repeat waits for its outcome.

    Raises:
        RequestIdReused: the id was used for another request.
    """
    if request is None:
        return None
    await connection.execute(_SQL["lock"], {"key": f"{tenant_id}/{request.request_id}"})
    cursor = await connection.execute(_SQL["find"], {"tenant_id": tenant_id, "request_id": request.request_id})
    row = await cursor.fetchone()
    if row is None:
        return None
    method, fingerprint, result = row
    if (method, bytes(fingerprint)) != (request.method, request.fingerprint):
        raise request_id_reused(request)
    return dict(result)


async def keep_result(
    connection: Connection, tenant_id: UUID, request: RequestKey | None, result: Mapping[str, object], now: datetime
) -> None:
    """Keep the ids that a request led to; does nothing for a request without an id."""
    if request is None:
        return
    await connection.execute(
        _SQL["keep"],
        {
            "tenant_id": tenant_id,
            "request_id": request.request_id,
            "method": request.method,
            "fingerprint": request.fingerprint,
            "result": Jsonb(dict(result)),
            "now": now,
        },
    )


def request_id_reused(request: RequestKey) -> RequestIdReused:
    """Return the error for a request id that stands for another request."""
    return RequestIdReused("the request id was used before, with another request", request_id=str(request.request_id))
