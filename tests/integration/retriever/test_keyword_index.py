"""The keyword route reads its index, although row-level security stands in front of the table."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import psycopg
import pytest

from rearview.adapters.postgres.recall_store import RECALL_SETTINGS
from rearview.domain.ids import new_id
from rearview.domain.keyword_bag import KeywordBag
from rearview.domain.memory import MemoryType
from rearview.language.keyword_hashes import KeywordHashes
from tests.support.indexed_library import BASE, FRESH, MAIN, Library, Unit
from tests.support.stack import DatabaseUrls

UNITS = 20_000
WORDS = ["预算", "椅子", "会议", "航班", "budget", "chair", "meeting", "flight", "report", "garden"]


def fill(library: Library, table: str) -> None:
    """Store many units of common words; every 500th also has a rare one."""
    hasher, random = KeywordHashes(), np.random.default_rng(7)
    rows = random.standard_normal((UNITS, library.embedder.generation.dimension), dtype=np.float32)
    memory_id = library.memory_row("many", MemoryType.EPISODE)
    for at, vector in enumerate(rows):
        words = [WORDS[at % len(WORDS)], f"word{at % 997}", *(["rareword"] if at % 500 == 0 else [])]
        bag = KeywordBag.of(hasher.keywords(library.scope.namespace_id, " ".join(words)))
        library._units.append(
            Unit(new_id(), memory_id, BASE + timedelta(seconds=at), 0, 8, MemoryType.EPISODE, vector, bag)
        )
    library.index(table=table)
    library.connection.execute(f"VACUUM ANALYZE {table}_{library.ordinal}")


@pytest.mark.parametrize("table", [MAIN, FRESH])
async def test_the_index_is_used_under_the_services_role(library: Library, database: DatabaseUrls, table: str) -> None:
    # Without its vector indexes, filling the table takes seconds instead of a minute.
    for language in ("zh", "other"):
        library.connection.execute(f"DROP INDEX {MAIN}_{library.ordinal}_vector_{language}")
    fill(library, table)
    scope = library.scope
    keywords = list(KeywordHashes().keywords(scope.namespace_id, "rareword 预算"))

    def scans() -> tuple[int, int]:
        row = library.connection.execute(
            """SELECT (SELECT idx_scan FROM pg_stat_user_indexes
                       WHERE relname = %(table)s AND indexrelname LIKE '%%sv_keys%%'),
                      (SELECT seq_scan FROM pg_stat_user_tables WHERE relname = %(table)s)""",
            {"table": f"{table}_{library.ordinal}"},
        ).fetchone()
        assert row is not None
        return row[0], row[1]

    before = scans()
    with psycopg.connect(database.service, autocommit=True) as connection:
        connection.execute("SELECT set_config('plan_cache_mode', %s, false)", [RECALL_SETTINGS["plan_cache_mode"]])
        connection.execute("SELECT set_config('app.tenant', %s, false)", [str(scope.tenant_id)])
        found = connection.execute(
            f"""SELECT r.unit_id FROM rearview_keyword_route_{library.ordinal}(%(tenant)s, %(namespace)s,
                  rearview_query_weights(%(tenant)s, %(namespace)s, %(keywords)s, %(counts)s),
                  rearview_rarest_terms(%(tenant)s, %(namespace)s, %(keywords)s, 2000), '{{0}}', NULL, 100) r""",
            {
                "tenant": scope.tenant_id,
                "namespace": scope.namespace_id,
                "keywords": keywords,
                "counts": [1.0] * len(keywords),
            },
        ).fetchall()
        connection.execute("SELECT pg_stat_force_next_flush()")
    after = scans()
    assert len(found) == 100
    assert after[0] == before[0] + 1
    assert after[1] == before[1]
    rare = KeywordHashes().keywords(scope.namespace_id, "rareword")[0]
    holding = library.connection.execute(
        f"SELECT count(*) FROM {table}_{library.ordinal} WHERE unit_id = ANY (%s) AND sv_keys(sv) && %s",
        [[row[0] for row in found[: UNITS // 500]], [rare]],
    ).fetchone()
    assert holding == (UNITS // 500,)
