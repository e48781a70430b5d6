"""Clients that do what agents do, through the public API, and take down what they did and saw."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rearview.client import Client, Turn, memory_filter
from rearview.domain.errors import NotFound, RearviewError
from rearview.domain.ids import new_id
from rearview.domain.memory import MemoryType
from rearview.v1 import memory_pb2, recall_pb2
from tests.support.soak import texts
from tests.support.soak.history import Action, Effect, History
from tests.support.soak.world import Thing, World

T = TypeVar("T")

TIMEOUTS_SECONDS = (0.5, 3.0, 10.0, 10.0)
PATIENT_SECONDS = 30.0
ATTEMPTS = 4
TURNS_A_SESSION = 24
BUDGET = "=budget"
TOP = 20


class Agent:
    """One client of a tenant. `step` does one thing at a time; any number of agents may share a world."""

    def __init__(self, client: Client, world: World, other: World, history: History, name: str, seed: int) -> None:
        self._client, self._world, self._other, self._history, self._name = client, world, other, history, name
        self._chance = random.Random(f"{seed}/{name}")
        self._session: dict[str, tuple[str, int]] = {}
        self._doubtful: set[str] = set()
        self.patient = False
        """Waits long for answers; for the end of a run."""

    @property
    def tenant(self) -> str:
        return self._world.tenant

    def run(self, stopped: threading.Event, pause_seconds: float) -> None:
        """Take steps until stopped."""
        while not stopped.wait(self._chance.uniform(0, 2 * pause_seconds)):
            self.step()

    def step(self) -> None:
        """Do one of the things that agents do."""
        (do,) = self._chance.choices([step for step, _ in STEPS], [weight for _, weight in STEPS])
        do(self, self._chance.choice(texts.NAMESPACES))

    def remember(self, namespace: str) -> None:
        thing = self._world.new_name(namespace)
        text = texts.note(self._chance, thing)
        answer = self._write(
            "Remember",
            namespace,
            [Effect(thing, Action.CREATE)],
            lambda client, request: client.remember(text, request_id=request),
        )
        if answer is not None:
            self._learn([Thing(thing, True, text, answer.memory.name)])

    def append(self, namespace: str) -> None:
        session, turns = self._session.get(namespace, ("", TURNS_A_SESSION))
        if turns >= TURNS_A_SESSION:
            if session:
                self._write("EndSession", namespace, (), lambda client, _: client.end_session(session))
            session, turns = f"talk-{self._name}-{new_id().hex[-8:]}", 0
        made = [self._world.new_name(namespace) for _ in range(self._chance.randrange(1, 4))]
        self._session[namespace] = session, turns + len(made)
        said = [texts.turn(self._chance, thing) for thing in made]
        answer = self._write(
            "AppendEvents",
            namespace,
            [Effect(thing, Action.CREATE) for thing in made],
            lambda client, request: client.append_events(
                session, [Turn("user", text) for text in said], request_id=request
            ),
        )
        if answer is None:
            self._doubtful.add(session)
        else:
            events = zip(made, said, answer.events, strict=True)
            self._learn([Thing(thing, False, text, event.name, session) for thing, text, event in events])
            with self._world.lock:
                self._world.sessions.add((namespace, session))

    def set_budget(self, namespace: str) -> None:
        """In one namespace the fact is remembered at once, in the other it is said, and learnt some time later."""
        value = self._world.new_budget()
        effect = Effect(f"{self._world.tenant}/{namespace}/{BUDGET}", Action.SET, value)
        if namespace == texts.NAMESPACES[0]:
            self._write(
                "Remember",
                namespace,
                [effect],
                lambda client, request: client.remember(texts.budget(value), request_id=request),
            )
            return
        begun, session = self._history.now(), f"budget-{self._name}-{new_id().hex[-8:]}"
        self._history.add(self._name, "AppendEvents", [self._place(namespace)], begun, None, [effect])
        turn = [Turn("user", texts.budget(value))]
        self._write("AppendEvents", namespace, (), lambda client, request: client.append_events(session, turn))

    def update(self, namespace: str) -> None:
        note = self._world.pick(self._chance, namespace, notes=True)
        if note is None:
            return
        with self._world.lock:
            note.version += 1
            version = note.version
        text = texts.note(self._chance, note.thing, version)
        self._write(
            "UpdateMemory",
            namespace,
            [Effect(note.thing, Action.UPDATE, version)],
            lambda client, request: client.update_memory(note.resource, {"content": text}, request_id=request),
        )
        with self._world.lock:
            note.text = text

    def forget(self, namespace: str) -> None:
        notes = self._chance.random() < 0.5
        one = self._world.pick(self._chance, namespace, notes=notes)
        if one is not None:
            self._forget(namespace, [one], "" if notes else one.resource)

    def forget_session(self, namespace: str) -> None:
        """Forget one of the sessions that this agent has ended, all of whose turns are known."""
        own = [
            session
            for where, session in sorted(self._world.sessions)
            if where == namespace
            and session.startswith(f"talk-{self._name}-")
            and session not in self._doubtful
            and session != self._session[namespace][0]
        ]
        if own:
            session = self._chance.choice(own)
            self._forget(namespace, self._world.known(namespace, notes=False, session=session), "", session)

    def _forget(self, namespace: str, gone: Sequence[Thing], event: str, session: str | None = None) -> None:
        at_once = self._chance.random() < 0.5
        for one in gone:
            one.forgetting = True
        answer = self._write(
            "Forget",
            namespace,
            [Effect(one.thing, Action.FORGET) for one in gone],
            lambda client, request: client.forget(
                memories=[] if event or session else [gone[0].resource],
                events=[event] if event else [],
                session=session,
                skip_grace_period=at_once,
                request_id=request,
            ),
        )
        if answer is None:
            return
        with self._world.lock:
            for one in gone:
                one.forgotten = True
            if session:
                self._world.sessions.discard((namespace, session))
            if at_once:
                self._world.receipts[answer.name] = [one.thing for one in gone]

    def get(self, namespace: str) -> None:
        note = self._world.pick(self._chance, namespace, notes=True)
        if note is not None:
            self.get_note(note)

    def get_note(self, note: Thing) -> None:
        """Read a note by its name."""

        def read(client: Client) -> list[Effect]:
            try:
                return _seen([client.get_memory(note.resource).content])
            except NotFound:
                return [Effect(note.thing, Action.MISS)]

        self._read("GetMemory", note.namespace, read)

    def trespass(self, namespace: str) -> None:
        """Try to read what another tenant has."""
        resource = self._other.any_resource(self._chance)

        def read(client: Client) -> list[Effect]:
            try:
                return _seen([client.get_memory(resource).content])
            except NotFound:
                return []

        if resource:
            self._read("GetMemory", namespace, read)

    def list_memories(self, namespace: str) -> None:
        known = self._world.known(namespace, notes=True)

        def read(client: Client) -> list[Effect]:
            memories = list(client.list_memories(page_size=1000))
            explicit = [one.content for one in memories if one.type == memory_pb2.MEMORY_TYPE_EXPLICIT]
            others = [one.content for one in memories if one.type != memory_pb2.MEMORY_TYPE_EXPLICIT]
            return [*_listed(explicit, known), *_seen(others), *self._facts(namespace, memories)]

        self._read("ListMemories", namespace, read)

    def list_facts(self, namespace: str) -> None:
        wanted = memory_filter(types=[MemoryType.FACT])

        def read(client: Client) -> list[Effect]:
            return self._facts(namespace, list(client.list_memories(filter=wanted, page_size=1000)))

        self._read("ListMemories", namespace, read)

    def list_events(self, namespace: str) -> None:
        sessions = sorted(session for where, session in self._world.sessions if where == namespace)
        if sessions:
            self.list_session(namespace, self._chance.choice(sessions))

    def list_session(self, namespace: str, session: str) -> None:
        """Read all turns of a session."""
        known = self._world.known(namespace, notes=False, session=session)
        self._read(
            "ListEvents",
            namespace,
            lambda client: _listed([event.content for event in client.list_events(session, page_size=1000)], known),
        )

    def working_memory(self, namespace: str) -> None:
        session, _ = self._session.get(namespace, ("", 0))
        if session:
            self._read(
                "GetWorkingMemory",
                namespace,
                lambda client: _seen(turn.event.content for turn in client.working_memory(session).turns),
            )

    def recall_own(self, namespace: str) -> None:
        """Ask for something with its own words: it must be among the hits, unless the answer says what was left out."""
        one = self._world.pick(self._chance, namespace, notes=self._chance.random() < 0.5)
        if one is not None:
            self.recall_thing(one)

    def recall_thing(self, one: Thing) -> None:
        """Recall with a thing's own words."""

        def read(client: Client) -> list[Effect]:
            answer = client.recall(one.text, top_k=TOP, include_cold=True)
            seen = _seen(_told(answer))
            missed = not answer.degraded and all(effect.thing != one.thing for effect in seen)
            return [*seen, Effect(one.thing, Action.MISS)] if missed else seen

        self._read("Recall", one.namespace, read)

    def recall(self, namespace: str) -> None:
        question, cold = self._chance.choice(texts.QUESTIONS), self._chance.random() < 0.2
        session, _ = self._session.get(namespace, ("", 0))
        asking = session if session and self._chance.random() < 0.3 else None
        self._read(
            "Recall",
            namespace,
            lambda client: _seen(_told(client.recall(question, top_k=TOP, include_cold=cold, session=asking))),
        )

    def sweep(self, namespace: str) -> None:
        """Move what was not used for a while to colder tiers."""
        self._write("RunSweep", namespace, (), lambda client, _: client.run_sweep())

    def _facts(self, namespace: str, memories: Iterable[memory_pb2.Memory]) -> list[Effect]:
        values: dict[str, list[int]] = {}
        for memory in memories:
            if memory.type == memory_pb2.MEMORY_TYPE_FACT and memory.fact.single_valued:
                key = f"={memory.fact.attribute}"
                value = int(memory.fact.value) if memory.fact.value.isdecimal() else 1 + len(values.get(key, ()))
                values.setdefault(key, []).append(value)
        told = {key: found for key, found in values.items() if key == BUDGET or len(found) > 1}
        place = self._place(namespace)
        effects = [Effect(f"{place}/{key}", Action.SEE, value) for key, found in told.items() for value in found]
        return effects if BUDGET in told else [*effects, Effect(f"{place}/{BUDGET}", Action.MISS)]

    def _write(
        self, method: str, namespace: str, effects: Sequence[Effect], call: Callable[[Client, str], T]
    ) -> T | None:
        """Call, and call again with the same request id while nobody knows what became of it. Without an answer the
        effects may or may not have happened."""
        request, begun = str(new_id()), self._history.now()
        for _ in range(ATTEMPTS):
            try:
                answer = call(self._within(namespace), request)
            except RearviewError as error:
                self._failed(method, error)
                if self._chance.random() < 0.2:
                    break
            else:
                self._done(method, namespace, begun, self._history.now(), effects, request)
                return answer
        self._done(method, namespace, begun, None, effects, request)
        return None

    def _read(self, method: str, namespace: str, read: Callable[[Client], list[Effect]]) -> None:
        begun = self._history.now()
        try:
            effects = read(self._within(namespace))
        except RearviewError as error:
            self._failed(method, error)
        else:
            self._done(method, namespace, begun, self._history.now(), effects)

    def _within(self, namespace: str) -> Client:
        seconds = PATIENT_SECONDS if self.patient else self._chance.choice(TIMEOUTS_SECONDS)
        return self._client.with_options(namespace=namespace, timeout_seconds=seconds)

    def _place(self, namespace: str) -> str:
        return f"{self._world.tenant}/{namespace}"

    def _done(
        self,
        method: str,
        namespace: str,
        begun: float,
        ended: float | None,
        effects: Sequence[Effect],
        request: str = "",
    ) -> None:
        self._history.add(self._name, method, [self._place(namespace)], begun, ended, effects, request)
        with self._world.lock:
            self._world.calls[method] += 1

    def _failed(self, method: str, error: RearviewError) -> None:
        with self._world.lock:
            self._world.errors[f"{method} {type(error).__name__}"] += 1

    def _learn(self, things: Sequence[Thing]) -> None:
        with self._world.lock:
            self._world.things.update({one.thing: one for one in things})


STEPS: Sequence[tuple[Callable[[Agent, str], None], int]] = (
    (Agent.remember, 14),
    (Agent.append, 14),
    (Agent.set_budget, 6),
    (Agent.update, 10),
    (Agent.forget, 7),
    (Agent.forget_session, 1),
    (Agent.get, 8),
    (Agent.trespass, 2),
    (Agent.list_memories, 2),
    (Agent.list_facts, 6),
    (Agent.list_events, 6),
    (Agent.working_memory, 3),
    (Agent.recall_own, 12),
    (Agent.recall, 12),
    (Agent.sweep, 1),
)


def _seen(told: Iterable[str]) -> list[Effect]:
    return [Effect(thing, Action.SEE, version) for thing, version in dict.fromkeys(texts.marks(told))]


def _listed(told: Iterable[str], known: Sequence[Thing]) -> list[Effect]:
    """Return what a list shows, twice what stands there twice, and what should stand there and does not."""
    found = [
        Effect(thing, Action.SEE, version) for text in told for thing, version in dict.fromkeys(texts.marks([text]))
    ]
    there = {effect.thing for effect in found}
    return found + [Effect(one.thing, Action.MISS) for one in known if one.thing not in there]


def _told(answer: recall_pb2.RecallResponse) -> list[str]:
    return [
        answer.context,
        *(hit.memory.content for hit in answer.hits),
        *(highlight.text for hit in answer.hits for highlight in hit.highlights),
    ]
