"""Units near several vectors at once: the same as near each alone, whichever way they are looked for."""

from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from psycopg import sql

from rearview.domain.ids import new_id
from rearview.domain.search_unit import UnitFlag
from tests.support.stack import DatabaseUrls

UNITS, DIMENSION, WANTED = 120, 8, 3
CHINESE, ENGLISH = int(UnitFlag.CHINESE), int(UnitFlag.ENGLISH)


def text_of(vector: NDArray[np.float32]) -> str:
    return f"[{','.join(f'{value:.4f}' for value in vector)}]"


@pytest.mark.parametrize("counted", [UNITS, 5_000], ids=["all are compared", "by the index"])
def test_several_at_once_find_what_each_finds(database: DatabaseUrls, counted: int) -> None:
    tenant, namespace, other = new_id(), new_id(), new_id()
    random = np.random.default_rng(5)
    vectors = random.standard_normal((UNITS, DIMENSION)).astype(np.float16).astype(np.float32)
    flags = random.choice((CHINESE, ENGLISH, CHINESE | ENGLISH, 0), UNITS)
    ids = [new_id() for _ in range(UNITS)]
    with psycopg.connect(database.owner, autocommit=True) as connection:
        connection.execute("SELECT rearview_register_generation('g', 'm', %s, '{}')", [DIMENSION])
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        for at in range(UNITS):
            for place in (namespace, other):
                store(connection, at % 2 == 0, tenant, place, ids[at], int(flags[at]), text_of(vectors[at]))
        connection.execute(
            "INSERT INTO namespace_statistics (tenant_id, namespace_id, units, chinese_units, english_units)"
            " VALUES (%s, %s, %s, %s, %s)",
            [tenant, namespace, counted, counted, counted],
        )
    asked = random.standard_normal((4, DIMENSION)).astype(np.float32)
    with psycopg.connect(database.service, autocommit=True) as connection:
        connection.execute("SELECT set_config('app.tenant', %s, false)", [str(tenant)])
        found = connection.execute(
            "SELECT place, unit_id FROM rearview_near_units_of(1::int2, %s, %s, %s::text[]::halfvec[], %s)",
            [tenant, namespace, [text_of(asked[0]), None, *map(text_of, asked[1:])], WANTED],
        ).fetchall()
    distances = 1 - (asked @ vectors.T) / (np.linalg.norm(asked, axis=1)[:, None] * np.linalg.norm(vectors, axis=1))
    lists = ((flags & CHINESE) != 0, ((flags & CHINESE) == 0) | ((flags & ENGLISH) != 0))
    for row, number in enumerate((1, 3, 4, 5)):
        expected: set[Any] = set()
        for members in lists:
            expected |= {ids[at] for at in np.argsort(np.where(members, distances[row], np.inf))[:WANTED]}
        assert {unit for at, unit in found if at == number} == expected
    assert {at for at, _ in found} == {1, 3, 4, 5}


def store(
    connection: psycopg.Connection[Any], fresh: bool, tenant: Any, namespace: Any, unit: Any, flags: int, vector: str
) -> None:
    table = sql.Identifier("search_unit_fresh_1" if fresh else "search_unit_1")
    connection.execute(
        sql.SQL(
            "INSERT INTO {} (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type,"
            " closed, created_at, embedding, sv) VALUES (%s, %s, %s, %s, now(), 0, %s, 0, 1, true, now(), %s::halfvec,"
            " '{{1:1}}/1000000000'::sparsevec)"
        ).format(table),
        [tenant, namespace, unit, unit, flags, vector],
    )
