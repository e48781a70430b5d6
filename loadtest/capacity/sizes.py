"""Measures the bytes that the capacity model multiplies: `python -m loadtest.capacity.sizes`; see loadtest/README.md.

A stack of its own (`rearview up --data-dir FOLDER`) is filled with the benchmarks' turns and notes, and its tables are
written anew (VACUUM FULL) before each look, so that sizes hold no space of deleted rows: the model adds that itself.
Sizes are told, times are not.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Literal, LiteralString

import grpc
import psycopg
from minio import Minio
from psycopg.sql import SQL, Composed, Identifier
from redis import Redis

from rearview.client import Client
from rearview.domain.ids import new_id
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.paths import DataFolder
from rearview.evaluation.bench_load import fill, warmed_up_namespace
from rearview.evaluation.bench_texts import TURNS_PER_SESSION, BenchSession, bench_sessions
from rearview.evaluation.bench_tiers import AT_ONCE, NEVER, swept
from rearview.evaluation.ingest import wait_until_indexed
from rearview.v1.memory_service_pb2_grpc import MemoryServiceStub
from rearview.v1.recall_pb2 import RecallRequest

MEMORY_TABLES = r"memory(_\w+)?|cold_\w+|speaker"
UNIT_TABLES = r"search_unit\w*"
ALL_TABLES = r"\w+"
QUESTIONS = 200
_TO_DO = """
SELECT count(*) FROM procrastinate_jobs
WHERE status IN ('todo', 'doing') AND task_name IN ('index_session', 'merge_fresh_units')
"""


class Stores:
    """What lies in the stores of a stack, in bytes."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._database = psycopg.connect(endpoints.postgres_owner_url, autocommit=True)
        self._redis = Redis.from_url(endpoints.redis_url)
        self._objects = Minio(endpoints.s3_endpoint, endpoints.s3_access_key, endpoints.s3_secret_key, secure=False)
        self._bucket = endpoints.s3_bucket

    def settle(self) -> None:
        """Wait until all is indexed (the last jobs, a minute later, move units to the tables with vector indexes), and
        write all tables anew."""
        while self._database.execute(_TO_DO).fetchone() != (0,):
            time.sleep(1)
        self._database.execute("VACUUM FULL")

    def table_bytes(self, names: str) -> int:
        """Return what the tables whose names match a regular expression take with their indexes, when settled."""
        self.settle()
        return self._number(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname ~ %s",
            f"^({names})$",
        )

    def row_bytes(self, table: str) -> int:
        """Return what a row of a table takes with its indexes, as of the last time that the tables were settled."""
        count = SQL("SELECT pg_total_relation_size(%s) / greatest(count(*), 1) FROM {}").format(Identifier(table))
        return self._number(count, table)

    def unit_bytes(self, tier: Literal["", "warm_"]) -> int:
        """Return what a search unit takes in the first model's tables: "" are the hot ones, with the vector index."""
        ordinal = self._number("SELECT min(ordinal) FROM model_generation")
        return self.row_bytes(f"search_unit_{tier}{ordinal}")

    def counts(self) -> tuple[int, int]:
        """Return how many memories there are, and how many units of the first model."""
        ordinal = self._number("SELECT min(ordinal) FROM model_generation")
        count = SQL("SELECT (SELECT count(*) FROM {}) + (SELECT count(*) FROM {}) + (SELECT count(*) FROM {})").format(
            *[Identifier(f"search_unit_{part}{ordinal}") for part in ("", "fresh_", "warm_")]
        )
        return self._number("SELECT count(*) FROM memory"), self._number(count)

    def log_position(self) -> int:
        """Return how many bytes of write-ahead log were written since the cluster began."""
        return self._number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")

    def _number(self, statement: LiteralString | Composed, *arguments: str) -> int:
        row = self._database.execute(statement, arguments).fetchone()
        return int(row[0] or 0) if row else 0

    def redis(self) -> int:
        """Return the memory that Redis needs for its data."""
        return int(self._redis.info("memory")["used_memory_dataset"])

    def objects(self) -> int:
        """Return the bytes of all cold segments."""
        listed = self._objects.list_objects(self._bucket, recursive=True)
        return sum(each.size or 0 for each in listed if not (each.object_name or "").startswith("audit/"))


def turns_and_answers(client: Client, endpoints: Endpoints, stores: Stores, turns: int) -> dict[str, int]:
    """Append and index turns, then ask about them; return the bytes of what comes of a turn and of an answer."""
    namespace = warmed_up_namespace(client)
    sessions = list(bench_sessions(turns))
    stores.settle()
    log, kept = stores.log_position(), stores.redis()
    fill(client, namespace, sessions, 1, lambda _: None)
    wait_until_indexed(client, namespace, lambda _: None)
    logged, working, kept = stores.log_position() - log, stores.redis() - kept, stores.redis()
    answers = _answers(endpoints, namespace, [session.questions[0] for session in sessions][:QUESTIONS])
    cached = stores.redis() - kept
    stores.settle()
    return {
        "turn_text_bytes": round(sum(len(text.encode()) for text in _texts(sessions)) / turns),
        "turn_log_bytes": round(logged / turns),
        "hot_unit_bytes": stores.unit_bytes(""),
        "event_bytes": stores.row_bytes("event"),
        "audit_record_bytes": stores.row_bytes("audit_record"),
        "session_redis_bytes": round(working * TURNS_PER_SESSION / turns),
        "answer_bytes": round(sum(answers) / len(answers)),
        "answer_redis_bytes": round(cached / len(answers)),
        "trace_bytes": stores.row_bytes("recall_trace"),
    }


def notes_by_tier(client: Client, stores: Stores, notes: int) -> dict[str, float]:
    """Remember notes, move them to the warm and then to the cold tier; return the bytes of one in each."""
    namespace = warmed_up_namespace(client)
    client.update_namespace_policy(namespace=namespace, warm_after=NEVER, cold_after=NEVER)
    swept(client, namespace)
    before, objects = stores.table_bytes(MEMORY_TABLES), stores.objects()
    for text in _texts(list(bench_sessions(notes, seed=3))):
        client.remember(text, namespace=namespace)
    found = {"hot_memory_bytes": stores.table_bytes(MEMORY_TABLES) - before}
    client.update_namespace_policy(namespace=namespace, warm_after=AT_ONCE, cold_after=NEVER)
    time.sleep(2 * AT_ONCE.total_seconds())
    swept(client, namespace)
    found["warm_memory_bytes"] = stores.table_bytes(MEMORY_TABLES) - before
    warm = stores.unit_bytes("warm_")
    client.update_namespace_policy(namespace=namespace, cold_after=AT_ONCE)
    swept(client, namespace)
    found["pointer_bytes"] = stores.table_bytes(MEMORY_TABLES) - before
    found["segment_bytes"] = stores.objects() - objects
    return {**{name: round(size / notes) for name, size in found.items()}, "warm_unit_bytes": warm}


def shares_by_tier(client: Client, stores: Stores, turns: int) -> dict[str, float]:
    """Return what share of their hot bytes memories take in the cold tier, of one unit and of several.

    Counted are all tables of memories and of search units with their indexes, and cold segments; the log of what was
    said is the same in every tier.
    """

    def of_notes(namespace: str) -> None:
        for text in _texts(list(bench_sessions(turns, seed=5))):
            client.remember(text, namespace=namespace)

    def of_sessions(namespace: str) -> None:
        fill(client, namespace, list(bench_sessions(turns, seed=7)), 1, lambda _: None)
        wait_until_indexed(client, namespace, lambda _: None)

    found: dict[str, float] = {}
    for name, write in {"note": of_notes, "conversation": of_sessions}.items():
        namespace = warmed_up_namespace(client)
        client.update_namespace_policy(namespace=namespace, warm_after=NEVER, cold_after=NEVER)
        swept(client, namespace)
        tables = f"{MEMORY_TABLES}|{UNIT_TABLES}"
        before, objects, memories, units = stores.table_bytes(tables), stores.objects(), *stores.counts()
        write(namespace)
        hot = stores.table_bytes(tables) - before
        grown = [now - then for now, then in zip(stores.counts(), (memories, units), strict=True)]
        client.update_namespace_policy(namespace=namespace, warm_after=AT_ONCE, cold_after=AT_ONCE)
        time.sleep(2 * AT_ONCE.total_seconds())
        swept(client, namespace)
        cold = stores.table_bytes(tables) - before + stores.objects() - objects
        found[f"{name}_units_per_memory"] = round(grown[1] / grown[0], 2)
        found[f"{name}_hot_bytes"] = round(hot / grown[0])
        found[f"{name}_cold_bytes"] = round(cold / grown[0])
        found[f"{name}_cold_share"] = round(cold / hot, 4)
    return found


def tenant_bytes(operator: Client, stores: Stores, count: int) -> int:
    """Create tenants, each with its first key, and return the bytes of one in all tables."""
    before, run = stores.table_bytes(ALL_TABLES), new_id().hex[-12:]
    for number in range(count):
        operator.create_tenant(f"sizes-{run}-{number}")
    return round((stores.table_bytes(ALL_TABLES) - before) / count)


def _texts(sessions: list[BenchSession]) -> list[str]:
    return [turn.content for session in sessions for turn in session.turns]


def _answers(endpoints: Endpoints, namespace: str, questions: list[str]) -> list[int]:
    """Ask each question once and return the bytes of the answers, ten memories each at most."""
    with grpc.insecure_channel(endpoints.gateway or "") as channel:
        stub = MemoryServiceStub(channel)
        metadata = (("authorization", f"Bearer {endpoints.admin_key}"),)
        requests = (RecallRequest(parent=f"namespaces/{namespace}", query=text, top_k=10) for text in questions)
        return [stub.Recall(request, metadata=metadata, timeout=60).ByteSize() for request in requests]


def main() -> int:
    """Measure on the stack of a data folder and print what was found as JSON; return 2 without a stack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder of a stack that holds nothing else")
    parser.add_argument("--turns", type=int, default=4_000, help="how many turns to append")
    parser.add_argument("--notes", type=int, default=2_000, help="how many notes to remember and move")
    parser.add_argument("--tenants", type=int, default=500, help="how many tenants to create")
    options = parser.parse_args()
    folder = DataFolder(options.data_dir.resolve())
    endpoints = Endpoints.read(folder.endpoints_file)
    if endpoints is None or endpoints.gateway is None:
        sys.stderr.write(f"no stack runs in {options.data_dir}; start one with `rearview up --data-dir` of it\n")
        return 2
    stores = Stores(endpoints)
    with Client.from_endpoints(str(folder.endpoints_file), key="admin", timeout_seconds=60) as client:
        found: dict[str, float] = dict(turns_and_answers(client, endpoints, stores, options.turns))
        found |= notes_by_tier(client, stores, options.notes)
        found |= shares_by_tier(client, stores, options.notes)
    with Client.from_endpoints(str(folder.endpoints_file), key="operator", timeout_seconds=60) as operator:
        found["tenant_bytes"] = tenant_bytes(operator, stores, options.tenants)
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
