"""One tenant whose memories are written, recalled and forgotten while the lifecycle's work is killed beside it."""

import random
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from google.protobuf.message import Message

from rearview.domain.errors import Conflict
from rearview.domain.forget import Forget, ForgetMemories, ForgetSession
from rearview.domain.principal import Scope
from rearview.domain.writing import UpdateMemory
from rearview.v1 import memory_service_pb2, recall_pb2
from tests.support.faults.bench import FaultBench
from tests.support.running_gateway import bearer
from tests.support.tier_bench import TEXTS, age
from tests.support.waiting import wait_until
from tests.support.writer_fixtures import WriterBench

PARENT = "namespaces/default"
_LETTERS = "bcdfghjklmnpqrstvwxz"


@dataclass(slots=True)
class World:
    """What was acknowledged and what was forgotten, as its one user knows it.

    `kept` and `gone` are memories with their texts, `turns` events with theirs, by session; `reserved` are not to be
    touched by chance as long as the work needs them. `traces` are the names of recalls made before a forget, `marks`
    those of forgotten turns.
    """

    bench: FaultBench
    chance: random.Random
    name: str
    key: str
    writing: WriterBench
    kept: dict[UUID, str] = field(default_factory=dict)
    gone: dict[UUID, str] = field(default_factory=dict)
    turns: dict[str, dict[UUID, str]] = field(default_factory=dict)
    reserved: set[UUID] = field(default_factory=set)
    traces: list[str] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)

    @property
    def scope(self) -> Scope:
        """The tenant's namespace."""
        return self.writing.scope

    def text(self) -> str:
        """Return a new text with a mark that nothing else has."""
        mark = "".join(self.chance.choices(_LETTERS, k=10))
        text = self.chance.choice(TEXTS)
        return f"{mark} {text}" if self.chance.random() < 0.5 else f"{text} {mark}"

    async def write(self, count: int, **fields: object) -> list[UUID]:
        """Remember new texts; return their memories."""
        return [await self._remember(**fields) for _ in range(count)]

    async def converse(self, session_id: str, count: int = 3) -> None:
        """Append turns to a session, end it and let it be indexed."""
        await self._append(session_id, count)
        await self.writing.writer.ender.end(self.scope, session_id)
        await self.writing.run_jobs(also_later=True)

    async def forget(self, *memory_ids: UUID) -> None:
        """Recall memories, so that a trace and a cached answer hold them, and forget them for good."""
        await self._trace(*(self.kept[memory_id] for memory_id in memory_ids))
        await self._forget(Forget("default", ForgetMemories(memory_ids), skip_grace_period=True))
        for memory_id in memory_ids:
            self.gone[memory_id] = self.kept.pop(memory_id)
            self.marks.add(mark_of(self.gone[memory_id]))

    async def forget_session(self, session_id: str) -> None:
        """Recall a session's turns and forget it for good."""
        texts = self.turns.pop(session_id).values()
        await self._trace(*texts)
        await self._forget(Forget("default", ForgetSession(session_id), skip_grace_period=True))
        self.marks |= {mark_of(text) for text in texts}

    async def expire(self, memory_id: UUID) -> None:
        """Let a memory's end come."""
        await self.writing.rows(
            "UPDATE memory SET expires_at = %s WHERE memory_id = %s", self.bench.clock.now(), memory_id
        )
        self.gone[memory_id] = self.kept.pop(memory_id)

    async def age(self, days: float) -> None:
        """Let so much time pass for all memories."""
        await age(self.writing, days)

    async def recall(self, text: str) -> recall_pb2.RecallResponse:
        """Recall through the gateway, cold memories included; nothing forgotten is among what is found."""
        request = recall_pb2.RecallRequest(parent=PARENT, query=text, top_k=50, include_cold=True)
        return await self.bench.gateway.memories.Recall(request, metadata=bearer(self.key), timeout=60)

    async def get(self, memory_id: UUID) -> str:
        """Return what a memory says, read through the gateway."""
        request = memory_service_pb2.GetMemoryRequest(name=f"{PARENT}/memories/{memory_id}")
        return (await self.bench.gateway.memories.GetMemory(request, metadata=bearer(self.key), timeout=60)).content

    async def act(self) -> str:
        """Do something by chance; return what is wrong with its answer, empty when nothing is."""
        actions = (self._look, self._look, self._write, self._write, self._append_one, self._change, self._drop)
        try:
            return await self.chance.choice(actions)()
        except Conflict:
            return ""  # refused, with nothing done: a caller tries again

    async def _write(self) -> str:
        await self._remember()
        return ""

    async def _append_one(self) -> str:
        await self._append("live", 1)
        return ""

    async def _look(self) -> str:
        known = {**self.kept, **self.gone}
        if not known:
            return ""
        memory_id, text = self.chance.choice(list(known.items()))
        answer = await self.recall(text)
        hits = [hit.memory.name.rpartition("/")[2] for hit in answer.hits if hit.HasField("memory")]
        if memory_id in self.kept and (found := await self.get(memory_id)) != text:
            return f"{memory_id} reads {found!r} while the work is under way"
        twice = [str(one) for one in self.kept if hits.count(str(one)) > 1]
        return self.forbidden(answer) or (f"returned twice by a recall: {twice}" if twice else "")

    async def _change(self) -> str:
        free = [memory_id for memory_id in self.kept if memory_id not in self.reserved]
        if free:
            command = UpdateMemory(
                *("default", self.chance.choice(free), frozenset({"priority"})), priority=self.chance.random() * 0.8
            )
            await self.writing.writer.updater.update(self.scope, command)
        return ""

    async def _drop(self) -> str:
        free = [memory_id for memory_id in self.kept if memory_id not in self.reserved]
        if len(free) > 2:
            await self.forget(self.chance.choice(free))
        return ""

    def forbidden(self, answer: Message) -> str:
        """Return which forgotten memory stands in an answer, or nothing."""
        said = str(answer)
        found = [memory_id for memory_id, text in self.gone.items() if str(memory_id) in said or mark_of(text) in said]
        return f"forgotten and yet returned: {found}" if found else ""

    async def _remember(self, **fields: object) -> UUID:
        text = self.text()
        stored = (await self.writing.remember(text, **fields)).memory
        self.kept[stored.memory_id] = text
        return stored.memory_id

    async def _append(self, session_id: str, count: int) -> None:
        texts = [self.text() for _ in range(count)]
        for event in await self.writing.append(texts, session_id):
            self.turns.setdefault(session_id, {})[event.event_id] = event.content

    async def _trace(self, *texts: str) -> None:
        made = [(await self.recall(text)).trace for text in texts]
        self.traces += made

        async def stored() -> bool:
            ids = sorted({trace.rpartition("/")[2] for trace in made})
            return await self.writing.count("recall_trace", "trace_id::text = ANY (%s)", ids) == len(ids)

        await wait_until(stored, "the traces of recalls")

    async def _forget(self, command: Forget) -> None:
        await self.writing.writer.forgetter.forget(self.scope, command)


async def new_world(bench: FaultBench, name: str) -> World:
    """Make a tenant of this name, which is the seed of what it does."""
    key = await bench.gateway.new_tenant(name)
    probe = WriterBench(bench.writer, Scope(UUID(int=0), UUID(int=0), "default", principal="tester"), bench.clock,
                        bench.urls.superuser)  # fmt: skip
    (row,) = await probe.rows(
        "SELECT t.tenant_id, n.namespace_id FROM tenant t JOIN namespace n USING (tenant_id) WHERE t.name = %s", name
    )
    scope = Scope(row["tenant_id"], row["namespace_id"], "default", principal="tester")
    writing = WriterBench(bench.writer, scope, bench.clock, bench.urls.superuser)
    return World(bench, random.Random(name), name, key, writing)


def mark_of(text: str) -> str:
    """Return the mark of a text."""
    return next(word for word in (text.split()[0], text.split()[-1]) if len(word) == 10 and set(word) <= set(_LETTERS))


MINUTES = timedelta(minutes=15)
"""Longer than what is to be sealed has to be old."""
