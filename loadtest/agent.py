"""An agent: it talks with its user, asks its memory, and now and then forgets."""

import random
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from locust import User, task
from locust.exception import RescheduleTask

from loadtest.stages import scenario_of
from loadtest.target import client_of
from rearview.client import Client, Session, Turn
from rearview.domain.errors import NotFound, RearviewError
from rearview.evaluation.bench_texts import BenchSession, bench_sessions

TURNS_A_LIFE = 10_000
"""An agent says so many turns without repeating itself; what it has said is kept to tell."""
LATE_QUESTIONS = 20
HELD_MEMORIES = 20
TOP_K = 10

_born = count()


class BrokenPromise(Exception):
    """The service answered, and the answer breaks what the documentation promises."""


class Agent(User):
    """One agent with a client of its own. Half of its sessions are Chinese, half English."""

    def wait_time(self) -> float:
        """Return how long it thinks between two calls, in seconds."""
        least, most = scenario_of(self.environment).think_seconds
        return self._chance.uniform(least, most)

    def on_start(self) -> None:
        """Connect; every agent of every run says something else."""
        self._seed = time.time_ns() + next(_born)
        self._chance = random.Random(self._seed)  # noqa: S311 - not for secrets
        self._client: Client = client_of(self.environment.parsed_options)
        self._sessions = self._talk()
        self._asked: deque[str] = deque(maxlen=LATE_QUESTIONS)
        self._held: deque[tuple[str, str]] = deque(maxlen=HELD_MEMORIES)
        self._next_session()

    def on_stop(self) -> None:
        """Hang up."""
        self._client.close()

    @task(24)
    def append_two_turns(self) -> None:
        """Append what the user said and what the agent answered."""
        self._append("AppendEvents of 2", 2)

    @task(3)
    def append_ten_turns(self) -> None:
        """Append a longer exchange at once, and hold it against what working memory says."""
        self._append("AppendEvents of 10", 10)

    @task(25)
    def recall_fresh(self) -> None:
        """Ask what was not asked yet."""
        if self._questions:
            question = self._questions.popleft()
            self._asked.append(question)
            with self._timed("Recall fresh"):
                self._client.recall(question, top_k=TOP_K)

    @task(20)
    def recall_repeated(self) -> None:
        """Ask again what was asked a little while ago."""
        if self._asked:
            with self._timed("Recall repeated"):
                self._client.recall(self._chance.choice(self._asked), top_k=TOP_K)

    @task(6)
    def remember(self) -> None:
        """Remember a statement; from the answer on it is there."""
        content = self._statement()
        with self._timed("Remember"):
            name = self._client.remember(content, type="explicit").memory.name
        self._held.append((name, content))
        with self._timed("GetMemory"):
            self._client.get_memory(name)

    @task(3)
    def forget(self) -> None:
        """Forget a memory; from the answer on nothing returns it."""
        if not self._held:
            return
        name, content = self._held.popleft()
        with self._timed("Forget"):
            self._client.forget(memories=[name], reason="load test")
        with self._timed("Recall forgotten"):
            found = self._client.recall(content, top_k=TOP_K)
            if any(hit.memory.name == name for hit in found.hits):
                raise BrokenPromise("a forgotten memory was recalled")
        with self._timed("GetMemory forgotten"):
            try:
                self._client.get_memory(name)
            except NotFound:
                return
            raise BrokenPromise("a forgotten memory was read")

    @task(4)
    def list_memories(self) -> None:
        """Read a page of the newest memories."""
        with self._timed("ListMemories"):
            next(self._client.list_memories(page_size=20, full=False), None)

    def _append(self, name: str, turns: int) -> None:
        said = [self._turn(at) for at in range(turns)]
        with self._timed(name):
            appended = self._session.append(said)
        with self._timed("GetWorkingMemory"):
            held = {turn.event.name for turn in self._session.working_memory(max_turns=turns).turns}
            if any(event.name not in held for event in appended.events):
                raise BrokenPromise("working memory lacks a turn that was acknowledged")

    def _turn(self, at: int) -> Turn:
        return Turn("user" if at % 2 == 0 else "assistant", self._statement())

    def _statement(self) -> str:
        if not self._unsaid:
            self._next_session()
        statement, question = self._unsaid.popleft()
        self._questions.append(question)
        return statement

    def _next_session(self) -> None:
        session = next(self._sessions)
        self._session: Session = self._client.session(f"{session.name}-{self._seed}", end_on_exit=False)
        self._unsaid = deque(zip((turn.content for turn in session.turns), session.questions, strict=True))
        self._questions: deque[str] = deque(maxlen=LATE_QUESTIONS)

    def _talk(self) -> Iterator[BenchSession]:
        for life in count():
            yield from bench_sessions(TURNS_A_LIFE, seed=self._seed + life)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        """Report a call to Locust: how long the agent waited for it, retries included, and how it failed."""
        started = time.perf_counter()
        try:
            yield
        except (RearviewError, BrokenPromise) as error:
            self._report(name, started, error)
            raise RescheduleTask from error
        self._report(name, started, None)

    def _report(self, name: str, started: float, failure: Exception | None) -> None:
        self.environment.events.request.fire(
            request_type="grpc",
            name=name,
            response_time=(time.perf_counter() - started) * 1000,
            response_length=0,
            exception=failure,
            context={},
        )
