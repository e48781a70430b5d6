"""A writer on real PostgreSQL and Valkey with the real embedder, for one tenant with one namespace.

- `real_embedder`: the default ONNX model, opened once per session.
- `writer_config`: for a fresh database and an emptied Valkey.
- `writer`: its use cases; jobs run only when a test runs them (`WriterBench.run_jobs`).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from rearview.adapters.models.registry import EmbedderSettings, open_embedder
from rearview.adapters.postgres.database import Database
from rearview.domain.event import Event, EventRole
from rearview.domain.ids import new_id
from rearview.domain.principal import Scope
from rearview.domain.writing import AppendEvents, Remember, Remembered, RequestKey
from rearview.ports.embedder import Embedder
from rearview.writer.app import Writer, open_writer
from rearview.writer.config import WriterConfig
from tests.support.stack import DatabaseUrls

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
JOBS = ("index_session", "merge_fresh_units", "clear_working_memory", "summarise_fact", "restate_fact")


@dataclass(slots=True)
class SetClock:
    """Tells the time that a test sets; a moment passes at each look."""

    moment: datetime = START

    def now(self) -> datetime:
        self.moment += timedelta(milliseconds=1)
        return self.moment


@dataclass(frozen=True, slots=True)
class WriterBench:
    """A writer, and a view of what it wrote that no tenant has."""

    writer: Writer
    scope: Scope
    clock: SetClock
    superuser_url: str

    async def append(
        self, texts: Sequence[str | Event], session_id: str = "chat", request: RequestKey | None = None
    ) -> tuple[Event, ...]:
        """Append turns of a user, a second apart, unless they are events already."""
        events = [text if isinstance(text, Event) else self.turn(text, at) for at, text in enumerate(texts)]
        return await self.writer.appender.append(
            self.scope, AppendEvents(self.scope.namespace, session_id, tuple(events), request)
        )

    async def remember(self, text: str, **fields: Any) -> Remembered:
        """Remember a text now."""
        return await self.writer.keeper.remember(self.scope, self.command(text, **fields))

    def command(self, text: str, **fields: Any) -> Remember:
        """Return the command to remember a text now."""
        return Remember(self.scope.namespace, text, fields.pop("occurred_at", self.clock.moment), **fields)

    def turn(self, text: str, seconds: int = 0, role: EventRole = EventRole.USER, **fields: Any) -> Event:
        """Return a new event."""
        return Event(new_id(), role, text, self.clock.moment + timedelta(seconds=seconds), **fields)

    async def run_jobs(self, tasks: Sequence[str] = JOBS, *, also_later: bool = False) -> int:
        """Run the jobs that are due and return how many they were; `also_later` those planned for later, too."""
        ran = 0
        while True:
            rows = await self.rows(
                "DELETE FROM procrastinate_jobs WHERE id = (SELECT id FROM procrastinate_jobs WHERE status = 'todo'"
                " AND task_name = ANY (%s) AND (%s OR scheduled_at IS NULL OR scheduled_at <= %s) ORDER BY id LIMIT 1)"
                " RETURNING task_name, args",
                list(tasks),
                also_later,
                self.clock.moment,
            )
            if not rows:
                return ran
            await self.writer.handlers[rows[0]["task_name"]](rows[0]["args"])
            ran += 1

    async def rows(self, statement: str, *parameters: object) -> list[dict[str, Any]]:
        """Run a statement as the superuser, who sees every row."""

        def run() -> list[dict[str, Any]]:
            with psycopg.connect(self.superuser_url, autocommit=True, row_factory=psycopg.rows.dict_row) as connection:
                cursor = connection.execute(statement.encode(), parameters or None)
                return cursor.fetchall() if cursor.description else []

        return await asyncio.to_thread(run)

    async def count(self, table: str, condition: str = "true", *parameters: object) -> int:
        """Return how many rows of a table meet a condition."""
        return int((await self.rows(f"SELECT count(*) AS n FROM {table} WHERE {condition}", *parameters))[0]["n"])

    async def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return every row of every table, all columns, as JSON."""

        def run() -> dict[str, list[dict[str, Any]]]:
            with psycopg.connect(self.superuser_url, autocommit=True) as connection:
                names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
                return {
                    name: [row for (row,) in connection.execute(f'SELECT to_jsonb(t) FROM "{name}" t'.encode())]
                    for (name,) in names
                }

        return await asyncio.to_thread(run)

    async def tables_with(self, *texts: str) -> set[str]:
        """Return the names of the tables in which one of the texts stands, in any column."""
        stored = {name: json.dumps(rows, ensure_ascii=False) for name, rows in (await self.tables()).items()}
        return {name for name, rows in stored.items() if any(text in rows for text in texts)}

    async def open_connections(self, database: Database, count: int = 8) -> None:
        """Have so many connections open, so that what runs at once really meets in the database."""

        async def hold() -> None:
            async with database.transaction(self.scope.tenant_id) as connection:
                await (await connection.execute("SELECT pg_sleep(0.5)")).fetchone()

        await asyncio.gather(*(hold() for _ in range(count)))

    async def every_text(self) -> str:
        """Return all that is stored in any column of any table, as one text."""
        tables = await self.rows("SELECT format('%I.%I', schemaname, tablename) AS t FROM pg_tables"
                                 " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")  # fmt: skip
        parts: list[str] = []
        for table in tables:
            parts.extend(row["x"] for row in await self.rows(f"SELECT to_jsonb(x)::text AS x FROM {table['t']} x"))
        return "\n".join(parts)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def real_embedder(models_dir: Path) -> AsyncIterator[Embedder]:
    """The default embedder."""
    embedder = await asyncio.to_thread(open_embedder, EmbedderSettings(models_dir=models_dir))
    yield embedder
    await embedder.close()


@pytest.fixture
def writer_config(database: DatabaseUrls, redis_url: str, models_dir: Path) -> WriterConfig:
    """A writer's configuration for a fresh database and an emptied Valkey."""
    return WriterConfig.model_validate(
        {
            "database_url": database.service,
            "redis_url": redis_url,
            "redis_seconds": 30,  # a busy machine is no reason for an acknowledgement to go on without
            "internal_key": "k" * 32,
            "model_dir": models_dir,
            "listen": "127.0.0.1:0",
        }
    )


@pytest.fixture
def scope(database: DatabaseUrls) -> Scope:
    """A tenant with one namespace, `notes`."""
    made = Scope(tenant_id=new_id(), namespace_id=new_id(), namespace="notes", principal="tester")
    add_namespace(database.superuser, made)
    return made


@pytest_asyncio.fixture(loop_scope="session")
async def bench(
    writer_config: WriterConfig, scope: Scope, database: DatabaseUrls, real_embedder: Embedder
) -> AsyncIterator[WriterBench]:
    """A writer at work."""
    clock = SetClock()
    async with open_writer(writer_config, embedder=real_embedder, clock=clock) as writer:
        yield WriterBench(writer, scope, clock, database.superuser)


def add_namespace(superuser_url: str, scope: Scope) -> None:
    """Make a tenant, unless it is there, and a namespace."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO tenant (tenant_id, name, created_at) VALUES (%s, %s, now()) ON CONFLICT DO NOTHING",
            [scope.tenant_id, str(scope.tenant_id)],
        )
        connection.execute(
            "INSERT INTO namespace (tenant_id, namespace_id, name, owner, created_at, updated_at)"
            " VALUES (%s, %s, %s, 'tester', now(), now())",
            [scope.tenant_id, scope.namespace_id, scope.namespace],
        )


def request_key(method: str, content: object) -> RequestKey:
    """Return the key of a new request of this content."""
    return RequestKey(new_id(), method, json.dumps(content).encode().ljust(32, b"."))
