"""What a recall reads: each part as long as there is time for it, and what is missing is named.

The last turns of the named session are read beside the routes. With them alone there is a partial answer where the
routes, or the content of what they found, cannot be had in time. A recall that has nothing at all fails.
"""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from uuid import UUID

from rearview.domain.errors import DeadlineExceeded, Overloaded, RearviewError, Unavailable
from rearview.domain.event import Event
from rearview.domain.recall import Route
from rearview.domain.turn_filter import admits_turn
from rearview.ports.recall_store import Chosen, Found, Generation, Loaded, RecallStore, Search
from rearview.ports.working_memory import RecentTurns, SessionKey
from rearview.retriever.answer import Content, content_of
from rearview.retriever.asked import Asked
from rearview.retriever.candidates import Candidate
from rearview.retriever.cold_stage import ColdStage, Contents
from rearview.retriever.course import Course
from rearview.retriever.deadline import Deadline
from rearview.retriever.ranking import Ranking

ROUTES = "routes"
"""Every route but working memory: the database was too slow, or away."""
CONTENT = "content"
"""What the routes found could not be read in time."""
WORKING_MEMORY = "working_memory"
COLD = "cold"

WORKING_TURNS = 50

Turns = list[tuple[str, Event]]
Ranked = list[tuple[Candidate, Content]]
_NOT_IN_TIME = (DeadlineExceeded, Unavailable, Overloaded)


class TimedReading:
    """Reads candidates, the session's last turns, and content."""

    def __init__(
        self,
        store: RecallStore,
        working_memory: RecentTurns,
        cold: ColdStage | None,
        *,
        working_memory_seconds: float,
    ) -> None:
        """Take the parts; working memory is waited for at least `working_memory_seconds`."""
        self._store = store
        self._working_memory = working_memory
        self._cold = cold
        self._working_memory_seconds = working_memory_seconds

    async def find(
        self,
        asked: Asked,
        searches: Sequence[Search],
        generation: Generation | None,
        deadline: Deadline,
        course: Course,
    ) -> tuple[list[Found], Turns]:
        """Return what each namespace holds, and the session's turns that pass the filter, oldest first.

        Raises:
            DeadlineExceeded, Unavailable, Overloaded: neither could be had.
        """
        began, left = time.monotonic(), deadline.left_seconds()
        remembering = asyncio.create_task(self._last_turns(asked))
        failure: RearviewError | None = None
        found = [Found() for _ in searches]
        try:
            found = await deadline.keep(
                self._store.search(asked.scopes[0].tenant_id, searches, generation, timeout_seconds=left)
            )
        except _NOT_IN_TIME as error:
            failure = error
            course.degrade(ROUTES)
        except BaseException:
            remembering.cancel()
            raise
        working = await _result(remembering, self._patience(time.monotonic() - began, deadline))
        if working is None:
            course.degrade(WORKING_MEMORY)
        if failure is not None and not working:
            raise failure
        return found, working or []

    async def load(
        self,
        asked: Asked,
        shortlist: Sequence[Candidate],
        ranking: Ranking,
        working: Turns,
        deadline: Deadline,
        course: Course,
    ) -> Ranked:
        """Return what the shortlist says; of what was forgotten since it was found nothing.

        Where that cannot be read in time: what those candidates say that are turns of `working`.

        Raises:
            DeadlineExceeded, Unavailable, Overloaded: and there are none of these.
        """
        if not shortlist:
            return []
        try:
            return await self._contents(asked, shortlist, deadline, course)
        except _NOT_IN_TIME:
            held = {event.event_id: (session_id, event) for session_id, event in working}
            known = [one for one in ranking.best(None) if one.resource_id in held]
            if not known:
                raise
        course.degrade(CONTENT)
        return [(one, Content(None, (held[one.resource_id],), is_turn=True)) for one in known[: len(shortlist)]]

    def _patience(self, routes_seconds: float, deadline: Deadline) -> float:
        """How much longer than the routes working memory may take: as long again, as it may have to ask the database
        twice, but not the time in which the content has to be read."""
        longer = max(self._working_memory_seconds - routes_seconds, routes_seconds)
        return min(longer, deadline.left_seconds() - routes_seconds)

    async def _contents(
        self, asked: Asked, shortlist: Sequence[Candidate], deadline: Deadline, course: Course
    ) -> Ranked:
        tenant_id = asked.scopes[0].tenant_id
        chosen = [
            Chosen(
                scope,
                units={c.unit.unit_id: c.unit.memory_id for c in shortlist if c.scope is scope and c.unit},
                events=frozenset(c.resource_id for c in shortlist if c.scope is scope and not c.unit),
                as_of=asked.query.as_of,
            )
            for scope in asked.scopes
        ]
        loading = deadline.keep(
            self._store.load(
                tenant_id, chosen, with_metadata=asked.query.include_metadata, timeout_seconds=deadline.left_seconds()
            )
        )
        if self._cold is None:
            loaded = await loading
        else:
            loaded = await self._with_cold(self._cold, tenant_id, chosen, loading, deadline, course)
        of_namespace = {scope.namespace_id: one for scope, one in zip(asked.scopes, loaded, strict=True)}
        past = asked.query.as_of is not None
        contents = [content_of(c, of_namespace[c.scope.namespace_id], inactive_too=past) for c in shortlist]
        return [(c, content) for c, content in zip(shortlist, contents, strict=True) if content is not None]

    async def _with_cold(
        self,
        cold: ColdStage,
        tenant_id: UUID,
        chosen: Sequence[Chosen],
        loading: Awaitable[list[Loaded]],
        deadline: Deadline,
        course: Course,
    ) -> list[Loaded]:
        known: Sequence[Contents] = [{}] * len(chosen)
        if course.passed(COLD):
            # What a memory says lies elsewhere than how it stands, so both are read at the same time.
            reading = asyncio.create_task(cold.contents(tenant_id, chosen, deadline.left_seconds()))
            try:
                loaded = await loading
            except BaseException:
                reading.cancel()
                raise
            known = await reading
        else:
            loaded = await loading
        loaded, whole = await cold.fill(tenant_id, chosen, loaded, known, deadline.left_seconds())
        if not whole:
            course.degrade(COLD)
        return loaded

    async def _last_turns(self, asked: Asked) -> Turns | None:
        query, scope = asked.query, asked.scopes[0]
        if not query.session_id or Route.WORKING_MEMORY in query.disabled_routes:
            return []
        key = SessionKey(scope.tenant_id, scope.namespace_id, query.session_id)
        try:
            working = await self._working_memory.last_turns(key, WORKING_TURNS)
        except _NOT_IN_TIME:
            return None
        return [
            (query.session_id, turn.event)
            for turn in working.turns
            if admits_turn(query.filter, query.session_id, turn.event, query.as_of)
        ]


async def _result(remembering: asyncio.Task[Turns | None], seconds: float) -> Turns | None:
    """Return what a task returns; None if it is not done in time, and then it is cancelled but not waited for."""
    try:
        done, _ = await asyncio.wait({remembering}, timeout=max(seconds, 0.0))
    except asyncio.CancelledError:
        remembering.cancel()
        raise
    if not done:
        remembering.cancel()
        return None
    return remembering.result()
