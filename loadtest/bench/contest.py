"""All contenders up at once, on one PostgreSQL server and one embedding endpoint."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
from psycopg import sql

from loadtest.bench.contender import Surroundings
from loadtest.bench.rival import OWN, Rival, embedding_endpoint
from loadtest.bench.usage import cpu_seconds, rss_bytes, tree
from rearview.adapters.postgres.probe import inspect
from rearview.cli.borrowed_stack import borrowed_stack
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DataFolder
from rearview.embedded.stack_status import read_status

DATABASE_PREFIX = "bench_"


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds: of the contender's processes (its client among them), of the database, of the embedding endpoint."""

    own: float
    database: float
    embedding: float

    @property
    def total(self) -> float:
        """All of them together."""
        return self.own + self.database + self.embedding

    def since(self, before: "Spent") -> "Spent":
        """Return what was spent after `before`."""
        return Spent(self.own - before.own, self.database - before.database, self.embedding - before.embedding)


@dataclass(frozen=True, slots=True)
class Contest:
    """What runs, and what it takes.

    Attributes:
        rivals: the contenders by name.
        database_urls: the database of each.
        stack: the folder of the Rearview stack, whose PostgreSQL serves all.
        endpoint_pid: the embedding endpoint's process.
    """

    rivals: dict[str, Rival]
    database_urls: dict[str, str]
    stack: DataFolder
    endpoint_pid: int

    def spent(self, name: str) -> Spent:
        """Return the CPU seconds so far. Rearview embeds in its own processes and leaves the endpoint alone."""
        database, services = self._stack_processes()
        own = self.rivals[name].processes()
        return Spent(
            cpu_seconds([*own, *services] if name == OWN else own),
            cpu_seconds(database),
            0.0 if name == OWN else cpu_seconds(tree(self.endpoint_pid)),
        )

    def rss_bytes(self, name: str) -> int:
        """Return the resident memory without the database and the endpoint."""
        own = self.rivals[name].processes()
        return rss_bytes([*own, *self._stack_processes()[1]] if name == OWN else own)

    def database_bytes(self, name: str) -> int:
        """Return the size of its database, indexes included."""
        return inspect(self.database_urls[name]).size_bytes

    def _stack_processes(self) -> tuple[list[psutil.Process], list[psutil.Process]]:
        """The processes of PostgreSQL, and the others of the stack without its supervisor."""
        status = read_status(self.stack.status_file)
        if status is None:
            raise StackError(f"the stack in {self.stack.root} does not run")
        database: list[psutil.Process] = []
        services: list[psutil.Process] = []
        for process in status.processes:
            if process.pid is not None:
                (database if process.name == "postgres" else services).extend(tree(process.pid))
        return database, services


@contextmanager
def contest(folder: Path, purpose: str, names: Sequence[str], stack: DataFolder) -> Iterator[Contest]:
    """Start the endpoint and the contenders, and the stack unless it runs; end with the block what was started.

    Args:
        folder: where their data and logs are.
        purpose: for which they have databases of their own: what one data set leaves behind must not stand in the way
            of the next, in the tables of those who filter after they have searched.
        names: of the contenders.
        stack: the folder of the Rearview stack.
    """
    with ExitStack() as running:
        endpoints_file = running.enter_context(borrowed_stack(stack.root))
        endpoints = Endpoints.read(endpoints_file)
        if endpoints is None:
            raise StackError(f"there is no {endpoints_file}")
        url, pid = running.enter_context(embedding_endpoint(stack.models))
        rivals: dict[str, Rival] = {}
        database_urls: dict[str, str] = {}
        for name in names:
            files = folder / purpose / name
            files.mkdir(parents=True, exist_ok=True)
            database_urls[name] = (
                endpoints.postgres_owner_url
                if name == OWN
                else database(endpoints.postgres_superuser_url, f"{purpose}_{name}")
            )
            rival = Rival(name, files / "contender.log")
            running.callback(rival.close)
            rival.open(Surroundings(database_urls[name], url, str(files), str(endpoints_file)))
            rivals[name] = rival
        yield Contest(rivals, database_urls, stack, pid)


def database(superuser_url: str, name: str) -> str:
    """Return the URL of a contender's database, which is made if there is none, with pgvector in it."""
    called = DATABASE_PREFIX + name
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (called,)).fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(called)))
    url = urlsplit(superuser_url)._replace(path=f"/{called}").geturl()
    with psycopg.connect(url, autocommit=True) as connection:
        for extension in ("vector", "pg_trgm"):
            connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(extension)))
    return url
