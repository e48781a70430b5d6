"""What statements read to return what they return, by plans that were made when there was nothing."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.round_trip import numbered
from rearview.domain.ids import new_id
from tests.support.stack import DatabaseUrls

ROWS, WANTED = 3_000, 10
PLACE = {"tenant": new_id(), "namespace": new_id()}

FILL = """
INSERT INTO session (tenant_id, namespace_id, session_id, started_at, last_event_at)
SELECT %(tenant)s, %(namespace)s, 's' || n, now(), now() - n * interval '1 minute' FROM generate_series(1, %(rows)s) n;
INSERT INTO memory (tenant_id, namespace_id, memory_id, type, tier, content_hash, origin, trust, occurred_at,
                    created_at, updated_at, generation, segment_id, segment_row)
SELECT %(tenant)s, %(namespace)s, gen_random_uuid(), 1, 3, '', 1, 3, now(), now() - n * interval '1 minute', now(), 1,
       %(namespace)s, n FROM generate_series(0, %(rows)s - 1) n;
INSERT INTO cold_segment (tenant_id, namespace_id, segment_id, object_key, generation, memories, units, index_bytes,
                          total_bytes, block_offsets, first_occurred, last_occurred, created_at)
VALUES (%(tenant)s, %(namespace)s, %(namespace)s, 'key', 1, %(rows)s, %(rows)s, 1, 1, '{1}', now(), now(), now())
"""


class Planned:
    """A statement as a service runs it, with the plan that it was given for an empty database."""

    def __init__(self, connection: psycopg.Connection[Any], statement: LiteralString, parameters: Mapping[str, Any]):
        self._connection, self._parameters = connection, parameters
        known = numbered(statement)
        self._names = known.names
        connection.execute(sql.SQL("PREPARE planned AS ") + sql.SQL(known.text.decode()))
        connection.execute(self._run({}))

    def rows_read(self, **more: Any) -> int:
        """Return how many rows its scans looked at."""
        explained = self._connection.execute(sql.SQL("EXPLAIN (ANALYZE, FORMAT JSON) ") + self._run(more)).fetchone()
        assert explained is not None
        return _scanned(explained[0][0]["Plan"])

    def _run(self, more: Mapping[str, Any]) -> sql.Composed:
        values = {**self._parameters, **more}
        return sql.SQL("EXECUTE planned({})").format(sql.SQL(", ").join(sql.Literal(values[n]) for n in self._names))


def _scanned(plan: Mapping[str, Any]) -> int:
    own = 0
    if "Relation Name" in plan:
        own = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return round(own) + sum(_scanned(part) for part in plan.get("Plans", ()))


@pytest.fixture
def service(database: DatabaseUrls) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database.service, autocommit=True) as connection:
        connection.execute("SET plan_cache_mode = force_generic_plan")
        connection.execute("SELECT set_config('app.tenant', %s, false)", [str(PLACE["tenant"])])
        yield connection


def fill(database: DatabaseUrls) -> list[UUID]:
    """Store sessions and cold memories, a minute apart; return the memories' ids, the newest first."""
    with psycopg.ClientCursor(psycopg.connect(database.superuser, autocommit=True)) as cursor, cursor.connection:
        cursor.execute(FILL, {**PLACE, "rows": ROWS})
        rows = cursor.execute("SELECT memory_id FROM memory ORDER BY created_at DESC").fetchall()
    return [row[0] for row in rows]


@pytest.mark.parametrize("name", ["pointers", "segments_of"])
def test_where_cold_memories_are_is_read_of_those_alone(
    database: DatabaseUrls, service: psycopg.Connection[Any], name: str
) -> None:
    place = {"tenant_id": PLACE["tenant"], "namespace_id": PLACE["namespace"], "memory_ids": [new_id()]}
    planned = Planned(service, load_queries("tiering")[name], place)
    ids = fill(database)
    assert planned.rows_read(memory_ids=ids[:WANTED]) <= 3 * WANTED


def test_facts_that_a_statement_touches_are_read_alone(
    database: DatabaseUrls, service: psycopg.Connection[Any]
) -> None:
    place = {"tenant_id": PLACE["tenant"], "namespace_id": PLACE["namespace"], "limit": 500, "statements": "[]"}
    planned = Planned(service, load_queries("facts")["lock_known"], place)
    fill(database)
    with psycopg.connect(database.superuser) as connection:
        connection.execute(
            "UPDATE memory SET fact_subject = 'user', fact_attribute = 'a' || segment_row, fact_value_key = 'v',"
            " single_valued = true, fact_told_at = now()"
        )
    stated = [{"subject": "user", "attribute": f"a{n}", "value_key": "w", "single_valued": True} for n in range(WANTED)]
    assert WANTED <= planned.rows_read(statements=json.dumps(stated)) <= 4 * WANTED


LAST_PAGES = [
    ("memory_reading", "list_memories", "created_at", "memory"),
    ("event_reading", "list_sessions", "last_event_at", "session"),
]


@pytest.mark.parametrize(("file", "name", "time", "table"), LAST_PAGES)
def test_a_late_page_reads_nothing_of_those_before_it(
    database: DatabaseUrls, file: str, name: str, time: str, table: str
) -> None:
    with psycopg.connect(database.owner, autocommit=True) as connection:
        connection.execute("SELECT rearview_register_generation('g', 'm', 8, '{}')")
    fill(database)
    statement = load_queries(file)[name]
    parameters = dict.fromkeys(numbered(statement).names) | PLACE | {"limit": WANTED, "states": [1]}
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        connection.execute("SET plan_cache_mode = force_generic_plan")
        connection.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table)))
        at = connection.execute(
            sql.SQL("SELECT {0} FROM {1} ORDER BY {0} OFFSET %s LIMIT 1").format(
                sql.Identifier(time), sql.Identifier(table)
            ),
            [2 * WANTED],
        ).fetchone()
        assert at is not None
        after = {"after_created": at[0], "after_time": at[0], "after_id": new_id(), "after_session": "s"}
        planned = Planned(connection, statement, parameters)
        assert WANTED <= planned.rows_read(**{k: v for k, v in after.items() if k in parameters}) <= 3 * WANTED
