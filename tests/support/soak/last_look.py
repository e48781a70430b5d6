"""What must hold when the faults are over and all work is done: asked of the API, and looked for in the stores."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import psycopg
import redis
from psycopg import sql

from rearview.client import Client
from rearview.domain.errors import RearviewError
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.stack_status import ProcessState
from rearview.evaluation.ingest import wait_until_indexed
from rearview.v1 import forget_pb2
from tests.support.soak.load import PATIENT_SECONDS, Agent
from tests.support.soak.texts import NAMESPACES, marks
from tests.support.soak.world import World
from tests.support.supervised_stack import SupervisedStack

LOG = logging.getLogger("soak")
PATIENCE_SECONDS = 300.0
RECALLED = 60
"""Of so many notes and turns of a tenant it is tried whether recall finds them."""


@dataclass
class LastLook:
    """What was wrong at the end apart from histories, and what was counted."""

    wrong: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    _deadline: float = field(default_factory=lambda: time.monotonic() + PATIENCE_SECONDS)

    def eventually(self, holds: Callable[[], bool], what: str) -> bool:
        """Wait for something, all in all as long as patience lasts; note it if it does not come."""
        while True:
            with suppress(RearviewError):
                if holds():
                    return True
            if time.monotonic() > self._deadline:
                break
            time.sleep(0.5)
        self.wrong.append(f"waited in vain for {what}")
        return False


def last_look(
    stack: SupervisedStack, clients: Mapping[str, Client], worlds: Mapping[str, World], agents: Mapping[str, Agent]
) -> LastLook:
    """Wait until nothing is left to do, then read everything there is once more, into the history; return the rest."""
    look = LastLook()
    clients = {tenant: client.with_options(timeout_seconds=PATIENT_SECONDS) for tenant, client in clients.items()}
    if not look.eventually(lambda: _all_ready(stack), "every process to be ready"):
        return look
    for tenant, client in clients.items():
        for namespace in NAMESPACES:
            try:
                for session in list(client.list_sessions(namespace=namespace)):
                    client.end_session(session.name.rpartition("/")[2], namespace=namespace)
                wait_until_indexed(client, namespace, lambda _: None)
            except RearviewError as error:
                look.wrong.append(f"indexing of {tenant}/{namespace}: {error}")
        LOG.info("%s is indexed", tenant)
        world = worlds[tenant]
        for receipt in world.receipts:
            look.eventually(partial(_verified, client, receipt), f"the receipt {receipt} to be verified")
        LOG.info("the %d receipts of %s are verified", len(world.receipts), tenant)
        _read_everything(agents[tenant], world)
        look.eventually(partial(_no_dead_letters, client), f"the dead letters of {tenant} to be gone")
        look.counts[f"{tenant}: things"] = len(world.things)
        look.counts[f"{tenant}: forgotten"] = sum(one.forgotten for one in world.things.values())
        look.counts[f"{tenant}: receipts verified"] = len(world.receipts)
    erased = {thing for world in worlds.values() for things in world.receipts.values() for thing in things}
    for place, thing in _left_behind(stack.endpoints(), erased):
        look.wrong.append(f"{thing} was erased, says its receipt, and stands in {place}")
    return look


def _verified(client: Client, receipt: str) -> bool:
    return client.get_forget_receipt(receipt).state == forget_pb2.FORGET_STATE_VERIFIED


def _no_dead_letters(client: Client) -> bool:
    return not list(client.list_dead_letters())


def _all_ready(stack: SupervisedStack) -> bool:
    status = stack.status()
    return status is not None and all(
        process.state is ProcessState.DONE or (process.state is ProcessState.READY and process.pid is not None)
        for process in status.processes
    )


def _read_everything(agent: Agent, world: World) -> None:
    agent.patient = True
    for namespace in NAMESPACES:
        notes = world.known(namespace, notes=True)
        turns = world.known(namespace, notes=False)
        for _ in range(2):
            agent.list_memories(namespace)
        for where, session in sorted(world.sessions):
            if where == namespace:
                agent.list_session(namespace, session)
        for note in notes:
            agent.get_note(note)
        for some in (notes, turns):
            for one in some[:: max(len(some) * 2 * len(NAMESPACES) // RECALLED, 1)]:
                agent.recall_thing(one)


def _left_behind(endpoints: Endpoints, erased: set[str]) -> list[tuple[str, str]]:
    """Return where in PostgreSQL and Valkey marks of erased things stand."""
    found: set[tuple[str, str]] = set()
    with psycopg.connect(endpoints.postgres_superuser_url.rpartition("/")[0] + "/rearview") as database:
        # The question in a trace may repeat what was forgotten: it is the asker's own.
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'recall_trace' ORDER BY 1"
        for (table,) in database.execute(names).fetchall():
            query = sql.SQL("SELECT t::text FROM {} t WHERE t::text LIKE '%zq%'").format(sql.Identifier(table))
            found |= {(table, thing) for (row,) in database.execute(query) for thing, _ in marks([row])}
    with redis.Redis.from_url(endpoints.redis_url) as store:
        for key in store.scan_iter(count=1000):
            found |= {("valkey", thing) for thing, _ in marks([_content(store, key)])}
    return sorted((place, thing) for place, thing in found if thing in erased)


def _content(store: redis.Redis, key: bytes) -> str:
    """Return a key's raw content, whatever its type: marks are plain letters in every one of them."""
    kind = store.type(key)
    reads: dict[bytes, Callable[[], object]] = {
        b"string": lambda: store.get(key),
        b"list": lambda: store.lrange(key, 0, -1),
        b"hash": lambda: store.hgetall(key),
        b"set": lambda: store.smembers(key),
        b"zset": lambda: store.zrange(key, 0, -1),
        b"stream": lambda: store.xrange(key),
    }
    return str(reads[kind]()) if kind in reads else ""
