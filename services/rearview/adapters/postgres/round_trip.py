"""Several statements in one transaction and one round trip.

A transaction inside psycopg's pipeline takes at least three round trips and some twenty waits on the event loop; recall
and append would spend more on those than on everything else they do. Here all messages go out together, are flushed
once, and the answers are read until the last one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, LiteralString
from uuid import UUID

from psycopg import errors, pq
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.rows import RowMaker
from psycopg.waiting import Ready, Wait

from rearview.adapters.postgres.bounded_connection import BoundedConnection, PreparedKey

MAX_PREPARED = 64
"""Of one connection; statements differ also by the types of their parameters."""

_PARAMETER = re.compile(r"%\(([a-z_]+)\)s")
_BEGIN, _BEGIN_READING = b"BEGIN", b"BEGIN READ ONLY"
_COMMIT = b"COMMIT"
_SETTINGS = b"SELECT set_config('app.tenant', $1, true), set_config('statement_timeout', $2, true)"
_SETTINGS_PLANNED_ANEW = _SETTINGS + b", set_config('plan_cache_mode', 'force_custom_plan', true)"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with numbered parameters. `names` are those of the parameters, in the order of their numbers."""

    text: bytes
    names: tuple[str, ...]


@cache
def numbered(statement: LiteralString) -> Statement:
    """Return a statement that has named parameters, as `%(tenant)s`, with numbers for them."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${numbers.setdefault(match.group(1), len(numbers) + 1)}"

    text = _PARAMETER.sub(number, statement).replace("%%", "%").encode()
    return Statement(text, tuple(numbers))


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement with its parameters, by name. `as_dictionaries`: whether a row is one, or a tuple. `planned_anew`:
    whether its plan, and those of the statements beside it, is to be made for these parameters, or may be the one that
    the connection has for any."""

    statement: Statement
    parameters: Mapping[str, Any]
    as_dictionaries: bool = False
    planned_anew: bool = False


class PreparedStatementsStale(Exception):
    """What the server had parsed is gone, or returns something else than it did; the transaction failed.

    After a rollback psycopg has all dropped that was prepared, by whomever; and a migration may change a table.
    """


async def forget_prepared(connection: BoundedConnection) -> None:
    """Have every statement parsed anew, after `all_at_once` has raised PreparedStatementsStale."""
    await connection.rollback()
    connection.prepared = {}


async def all_at_once(
    connection: BoundedConnection,
    tenant_id: UUID | None,
    readings: Sequence[Reading],
    timeout_seconds: float,
    *,
    writes: bool = False,
) -> list[list[Any]]:
    """Return the rows of each statement, all run on behalf of `tenant_id` in one transaction, which may only read
    unless it `writes`.

    Where the connection may prepare, the server parses each statement once, on its way for the first time.

    The connection is the caller's alone, is in no transaction, and is closed if this does not end well, since what is
    still on its way would answer the next question. `timeout_seconds` bounds each statement on the server.

    Raises:
        PreparedStatementsStale: nothing was done; see `forget_prepared`.
        psycopg.Error: a statement failed, or the connection did.
    """
    transformer = Transformer(connection)
    preparing: dict[PreparedKey, bytes] = {}
    asked: list[Reading | None] = [None, None]  # BEGIN and the settings
    settings = [str(tenant_id or ""), str(max(int(timeout_seconds * 1000), 1))]
    pgconn = connection.pgconn
    ended = False
    pgconn.enter_pipeline_mode()
    try:
        _send(pgconn, _BEGIN if writes else _BEGIN_READING)
        planned_anew = any(reading.planned_anew for reading in readings)
        pgconn.send_query_params(
            _SETTINGS_PLANNED_ANEW if planned_anew else _SETTINGS, [value.encode() for value in settings]
        )
        for reading in readings:
            names = reading.statement.names
            values = transformer.dump_sequence(
                [reading.parameters[name] for name in names], [PyFormat.AUTO] * len(names)
            )
            types, formats = transformer.types or (), transformer.formats
            name = _name(connection, preparing, (reading.statement.text, tuple(types)))
            if name is None:
                pgconn.send_query_params(
                    reading.statement.text,
                    values,
                    param_types=types,
                    param_formats=formats,
                    result_format=pq.Format.BINARY,
                )
            else:
                if name.new:
                    pgconn.send_prepare(name.text, reading.statement.text, param_types=types)
                    asked.append(None)
                pgconn.send_query_prepared(name.text, values, param_formats=formats, result_format=pq.Format.BINARY)
            asked.append(reading)
        _send(pgconn, _COMMIT)
        pgconn.pipeline_sync()
        results = await connection.wait(_answers(pgconn))
        pgconn.exit_pipeline_mode()
        ended = True
    finally:
        if not ended:
            await connection.close()
    for result in results:
        if result.status == pq.ExecStatus.FATAL_ERROR:
            error = errors.error_from_result(result, encoding="utf-8")
            if connection.prepared and isinstance(error, errors.InvalidSqlStatementName | errors.FeatureNotSupported):
                raise PreparedStatementsStale from error
            if preparing:  # what was to be prepared may be there or not
                await connection.close()
            raise error
    if connection.prepared is not None:
        connection.prepared.update(preparing)
    # The last result is that of COMMIT.
    return [_rows(transformer, result, reading) for result, reading in zip(results[:-1], asked, strict=True) if reading]


@dataclass(frozen=True, slots=True)
class _Name:
    """What a statement is called on the server; `new` until it has been prepared there."""

    text: bytes
    new: bool


def _name(connection: BoundedConnection, preparing: dict[PreparedKey, bytes], key: PreparedKey) -> _Name | None:
    """Return what a statement is called; None for one that is not to be prepared."""
    prepared = connection.prepared
    if prepared is None:
        return None
    known = prepared.get(key) or preparing.get(key)
    if known is not None:
        return _Name(known, new=False)
    if len(prepared) + len(preparing) >= MAX_PREPARED:
        return None
    preparing[key] = b"rearview_%d" % connection.named_statements
    connection.named_statements += 1
    return _Name(preparing[key], new=True)


def _send(pgconn: pq.abc.PGconn, command: bytes) -> None:
    pgconn.send_query_params(command, None)


def _answers(pgconn: pq.abc.PGconn) -> PQGen[list[pq.abc.PGresult]]:
    """Return the result of each statement, once all are there."""
    results: list[pq.abc.PGresult] = []
    unsent = pgconn.flush()
    while True:
        # Who goes on waiting after a cancellation begins with `next`, which sends nothing.
        ready: int | None = yield Wait.RW if unsent else Wait.R
        if unsent:
            unsent = pgconn.flush()
        if ready is None or not ready & Ready.R:
            continue
        pgconn.consume_input()
        while not pgconn.is_busy():
            result = pgconn.get_result()
            if result is None:
                continue  # the end of one statement's results
            if result.status == pq.ExecStatus.PIPELINE_SYNC:
                return results
            results.append(result)


def _rows(transformer: Any, result: pq.abc.PGresult, reading: Reading) -> list[Any]:
    transformer.set_pgresult(result)
    make: RowMaker[Any] = tuple
    if reading.as_dictionaries:
        names = [(result.fname(at) or b"").decode() for at in range(result.nfields)]

        def make(values: Sequence[Any]) -> dict[str, Any]:
            return dict(zip(names, values, strict=True))

    rows: list[Any] = transformer.load_rows(0, result.ntuples, make)
    return rows
