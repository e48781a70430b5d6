"""What a forget takes, with all that derives from it: found in PostgreSQL under the locks of the sessions it is of."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from rearview.adapters.postgres.database import Connection
from rearview.adapters.postgres.episode_turns import made_of_their_turns
from rearview.adapters.postgres.fact_words import refuse_unless_hot
from rearview.adapters.postgres.falling import read_fallen
from rearview.adapters.postgres.memory_rows import SQL as MEMORY_SQL
from rearview.adapters.postgres.name_patterns import name_pattern
from rearview.adapters.postgres.queries import load_queries
from rearview.adapters.postgres.session_locks import lock_sessions, lock_sessions_of
from rearview.domain.errors import Conflict, NotFound, invalid_field
from rearview.domain.forget import (
    MAX_SELECTED,
    ForgetEvents,
    ForgetExpired,
    ForgetFilter,
    ForgetLastTurns,
    ForgetMemories,
    ForgetQuery,
    ForgetReplayed,
    ForgetSelection,
    ForgetSession,
    ForgetSubject,
    ForgetTarget,
)
from rearview.domain.memory import MemoryState, Tier
from rearview.domain.names import EventName, MemoryName, SessionName
from rearview.domain.principal import Scope
from rearview.ports.forgetting import NotHot

SQL = load_queries("forgetting")
_EXPIRY = load_queries("expiry")
_MOST_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Doomed:
    """What goes. `weakened` are facts that lose a source, `reworded` those among them whose words were that source's,
    `cut` episodes that lose some of their turns, `stale` turns whose windows reach a turn that goes."""

    sessions: tuple[str, ...]
    memory_ids: tuple[UUID, ...]
    event_ids: tuple[UUID, ...]
    whole_session: str = ""
    weakened: tuple[UUID, ...] = ()
    reworded: tuple[UUID, ...] = ()
    cut: tuple[UUID, ...] = ()
    stale: tuple[UUID, ...] = ()

    @property
    def selection(self) -> ForgetSelection:
        """The same, as callers see it."""
        return ForgetSelection(self.memory_ids, tuple(sorted(self.event_ids)), (*self.cut, *self.reworded))


@dataclass(frozen=True, slots=True)
class _Roots:
    """What a target names itself: memories that go whole, turns, and the field of the request that says so; without
    a field any number may go."""

    field: str
    memory_ids: frozenset[UUID]
    event_ids: frozenset[UUID] = frozenset()


async def find_doomed(connection: Connection, scope: Scope, target: ForgetTarget) -> Doomed:
    """Find and lock what a target selects.

    Raises:
        NotFound: a memory, the session or its turns are not there.
        InvalidFields: the target selects too much.
        Conflict: what it selects kept changing.
        NotHot: these must be hot before they can lose turns.
    """
    if isinstance(target, ForgetSession):
        doomed = await _of_session(connection, scope, target)
    elif isinstance(target, ForgetMemories):
        doomed = await _of_memories(connection, scope, target.memory_ids)
    elif isinstance(target, ForgetExpired):
        doomed = await _of_expired(connection, scope, target)
    elif isinstance(target, ForgetQuery):
        doomed = await _of_memories(connection, scope, target.found) if target.found else Doomed((), (), ())
    elif isinstance(target, ForgetReplayed):
        doomed = await _of_roots(connection, scope, lambda: _still_there(connection, scope, target))
        doomed = replace(doomed, whole_session=target.session_id)
    else:
        doomed = await _of_roots(connection, scope, lambda: _roots(connection, scope, target))
    doomed = await _with_derived(connection, scope, doomed)
    stale = await _ids(connection, "neighbours", scope, event_ids=list(doomed.event_ids))
    return replace(doomed, stale=tuple(sorted(stale)))


async def _roots(connection: Connection, scope: Scope, target: ForgetTarget) -> _Roots:
    if isinstance(target, ForgetFilter):
        return await _filtered(connection, scope, target)
    if isinstance(target, ForgetSubject):
        return await _about_subject(connection, scope, target)
    if isinstance(target, ForgetEvents):
        return await _named_events(connection, scope, target)
    if isinstance(target, ForgetLastTurns):
        return await _last_turns(connection, scope, target)
    raise AssertionError(f"{type(target).__name__} is found otherwise")


async def _filtered(connection: Connection, scope: Scope, target: ForgetFilter) -> _Roots:
    wanted = target.filter
    memory_ids = await _ids(
        connection,
        "memories_of_filter",
        scope,
        types=[int(kind) for kind in sorted(wanted.types)] or None,
        start=wanted.start,
        end=wanted.end,
        filter_entities=list(target.entity_keys) or None,
        session=wanted.session_id or None,
        labels=Jsonb(dict(wanted.labels)) if wanted.labels else None,
        origins=[int(origin) for origin in sorted(wanted.origins)] or None,
        limit=MAX_SELECTED + 1,
    )
    return _Roots("filter", frozenset(memory_ids))


async def _about_subject(connection: Connection, scope: Scope, target: ForgetSubject) -> _Roots:
    spellings = await (
        await connection.execute(SQL["spellings_of_subject"], {**place_of(scope), "key": target.key})
    ).fetchall()
    names = sorted({*target.names, *(row[0] for row in spellings)})
    place = {
        **place_of(scope),
        "key": target.key,
        "names": names,
        "patterns": [name_pattern(name) for name in names if len(name) > 1 and name not in target.common],
        "limit": MAX_SELECTED + 1,
    }
    rows = await (await connection.execute(SQL["memories_of_subject"], place)).fetchall()
    turns = {row[0] for row in await (await connection.execute(SQL["turns_of_subject"], place)).fetchall()}
    # What a fact about them was read from may speak of them without the name: "my boss" and, a turn later, "she".
    about = [memory_id for memory_id, _, is_about in rows if is_about]
    turns |= set(await _ids(connection, "turns_of_facts", scope, memory_ids=about))
    episodes = [memory_id for memory_id, episode, _ in rows if episode]
    mentioned = set(await _ids(connection, "episodes_with_turns", scope, memory_ids=episodes, event_ids=sorted(turns)))
    # An episode loses the turns that mention the subject; it goes whole where none of them can be told to.
    return _Roots("subject", frozenset(row[0] for row in rows) - mentioned, frozenset(turns))


async def _last_turns(connection: Connection, scope: Scope, target: ForgetLastTurns) -> _Roots:
    turns = await _ids(
        connection,
        "last_turns",
        scope,
        session_id=target.session_id,
        count=target.count,
        limit=MAX_SELECTED + 1,
    )
    if not turns:
        raise NotFound(
            "there is no such session, or no turn of a user in it that is not forgotten",
            resource_name=str(SessionName(scope.namespace, target.session_id)),
        )
    return _Roots("last_turns", frozenset(), frozenset(turns))


async def _named_events(connection: Connection, scope: Scope, target: ForgetEvents) -> _Roots:
    event_ids = frozenset(name.event for name in target.events)
    place = {**place_of(scope), "event_ids": sorted(event_ids)}
    rows = await (await connection.execute(SQL["events_by_id"], place)).fetchall()
    there = {EventName(scope.namespace, session_id, event_id) for session_id, event_id in rows}
    missing = [name for name in target.events if name not in there]
    if missing:
        raise NotFound(
            f"{len(missing)} of {len(target.events)} events are not there; nothing was forgotten",
            resource_name=str(missing[0]),
        )
    return _Roots("events", frozenset(), event_ids)


async def _still_there(connection: Connection, scope: Scope, target: ForgetReplayed) -> _Roots:
    memory_ids = await _ids(connection, "memories_there", scope, memory_ids=list(target.memory_ids))
    place = {**place_of(scope), "event_ids": list(target.event_ids)}
    events = await (await connection.execute(SQL["events_by_id"], place)).fetchall()
    return _Roots("", frozenset(memory_ids), frozenset(event_id for _, event_id in events))


async def _of_roots(connection: Connection, scope: Scope, find: Callable[[], Awaitable[_Roots]]) -> Doomed:
    locked: set[str] = set()
    for _ in range(_MOST_ATTEMPTS):
        roots = await find()
        if roots.field and max(len(roots.memory_ids), len(roots.event_ids)) > MAX_SELECTED:
            raise invalid_field(
                roots.field, f"selects more than {MAX_SELECTED} memories or turns; forget them in smaller parts"
            )
        turns = await _memories_of_turns(connection, scope, roots)
        touched = [*roots.memory_ids, *turns]
        sessions = set(await lock_sessions_of(connection, scope.tenant_id, scope.namespace_id, touched))
        of_events = await connection.execute(
            SQL["sessions_of_events"], {**place_of(scope), "event_ids": sorted(roots.event_ids)}
        )
        sessions |= {row[0] for row in await of_events.fetchall()}
        if sessions <= locked:  # found again under the locks of all its sessions
            return await _parted(connection, scope, roots, turns, sorted(sessions))
        await lock_sessions(connection, scope.tenant_id, scope.namespace_id, sorted(sessions))
        locked |= sessions
    raise Conflict("what is to be forgotten kept changing; repeat the request", retry_after_seconds=0.5)


async def _memories_of_turns(
    connection: Connection, scope: Scope, roots: _Roots
) -> dict[UUID, tuple[bool, bool, bool]]:
    """Return whether each memory made of the turns is an episode, is cold, and is made of nothing else."""
    place = {**place_of(scope), "event_ids": sorted(roots.event_ids)}
    rows = await (await connection.execute(SQL["memories_of_turns"], place)).fetchall()
    return {memory_id: (episode, cold, whole) for memory_id, episode, cold, whole in rows}


async def _parted(
    connection: Connection,
    scope: Scope,
    roots: _Roots,
    turns: dict[UUID, tuple[bool, bool, bool]],
    sessions: list[str],
) -> Doomed:
    """Tell memories that go whole from episodes that lose turns."""
    losing = [
        memory_id
        for memory_id, (episode, _, whole) in turns.items()
        if episode and not whole and memory_id not in roots.memory_ids
    ]
    await connection.execute(MEMORY_SQL["lock"], {**place_of(scope), "memory_ids": sorted({*roots.memory_ids, *turns})})
    if cold := [memory_id for memory_id in losing if turns[memory_id][1]]:
        raise NotHot(tuple(cold))
    cut = await made_of_their_turns(connection, scope, losing)
    whole = roots.memory_ids | (turns.keys() - cut)
    # Of an episode that was written over, nobody knows which words came from which turn: it goes, its other turns stay.
    parted = whole - set(losing)
    events = roots.event_ids | set(await _ids(connection, "events_of_memories", scope, memory_ids=sorted(parted)))
    return Doomed(tuple(sessions), tuple(sorted(whole)), tuple(sorted(events)), cut=tuple(sorted(cut)))


async def _ids(connection: Connection, name: str, scope: Scope, **parameters: Any) -> list[UUID]:
    statement: LiteralString = SQL[name]
    return [row[0] for row in await (await connection.execute(statement, {**place_of(scope), **parameters})).fetchall()]


def place_of(scope: Scope) -> dict[str, Any]:
    """Return the parameters that every statement takes."""
    return {"tenant_id": scope.tenant_id, "namespace_id": scope.namespace_id}


async def _of_session(connection: Connection, scope: Scope, target: ForgetSession) -> Doomed:
    place: dict[str, Any] = {**place_of(scope), "session_id": target.session_id}
    repeating = await connection.execute(SQL["repeating_sessions"], place)
    session_ids = sorted({target.session_id, *(row[0] for row in await repeating.fetchall())})
    await lock_sessions(connection, scope.tenant_id, scope.namespace_id, session_ids)
    session = await connection.execute(SQL["session_exists"], place)
    events = await connection.execute(SQL["events_of_session"], place)
    exists = await session.fetchone() is not None
    event_ids = tuple(row[0] for row in await events.fetchall())
    memories = await connection.execute(SQL["memories_of_session"], {**place, "event_ids": list(event_ids)})
    memory_ids = tuple(sorted(row[0] for row in await memories.fetchall()))
    if not exists and not event_ids and not memory_ids:
        raise NotFound("there is no such session", resource_name=str(SessionName(scope.namespace, target.session_id)))
    await connection.execute(MEMORY_SQL["lock"], {**place, "memory_ids": list(memory_ids)})
    return Doomed((target.session_id,), memory_ids, event_ids, target.session_id)


async def _of_memories(connection: Connection, scope: Scope, names: Collection[UUID]) -> Doomed:
    memory_ids = sorted(set(names))
    place: dict[str, Any] = {**place_of(scope), "memory_ids": memory_ids}
    sessions = await lock_sessions_of(connection, scope.tenant_id, scope.namespace_id, memory_ids)
    locked = await connection.execute(MEMORY_SQL["lock"], place)
    live = {row[0] for row in await locked.fetchall() if row[2] != MemoryState.TOMBSTONED}
    missing = [memory_id for memory_id in memory_ids if memory_id not in live]
    if missing:
        raise NotFound(
            f"{len(missing)} of {len(memory_ids)} memories are not there; nothing was forgotten",
            resource_name=str(MemoryName(scope.namespace, missing[0])),
        )
    events = await connection.execute(SQL["events_of_memories"], place)
    event_ids = tuple(row[0] for row in await events.fetchall())
    return Doomed(tuple(sessions), tuple(memory_ids), event_ids)


async def _of_expired(connection: Connection, scope: Scope, target: ForgetExpired) -> Doomed:
    """Find under lock what is still expired: it may have been used, or given more time, since it was found."""
    memory_ids = sorted(target.memory_ids)
    place: dict[str, Any] = {**place_of(scope), "memory_ids": memory_ids}
    await lock_sessions_of(connection, scope.tenant_id, scope.namespace_id, memory_ids)
    await connection.execute(MEMORY_SQL["lock"], place)
    rows = await connection.execute(_EXPIRY["still_expired"], {**place, "now": target.now})
    still = {row[0] for row in await rows.fetchall()}
    if target.rule is not None:
        low = await read_fallen(connection, place, Tier.COLD, target.rule, limit=len(memory_ids))
        still |= set(low)
    if not still:
        raise NotFound("none of these memories is expired any more", resource_name=f"namespaces/{scope.namespace}")
    return await _of_memories(connection, scope, sorted(still))


async def _with_derived(connection: Connection, scope: Scope, doomed: Doomed) -> Doomed:
    """Add what was made of nothing else, and find which facts lose a source, and which their words. A summary goes with
    any of its values, and when one of them is worded anew: it quotes them, and is told anew without."""
    for _ in range(_MOST_ATTEMPTS):
        found = await _derived(connection, scope, doomed)
        touched = sorted({*found.memory_ids, *found.weakened} - set(doomed.memory_ids))
        await connection.execute(MEMORY_SQL["lock"], {**place_of(scope), "memory_ids": touched})
        # Another forget may have taken a source meanwhile, and another turn may have become one.
        if found == await _derived(connection, scope, doomed):
            await refuse_unless_hot(connection, scope, found.reworded)
            return found
    raise Conflict("what is to be forgotten kept changing; repeat the request", retry_after_seconds=0.5)


async def _derived(connection: Connection, scope: Scope, doomed: Doomed) -> Doomed:
    memory_ids, weakened, reworded = set(doomed.memory_ids), set[UUID](), set[UUID]()
    while True:
        place = {
            **place_of(scope),
            "memory_ids": sorted(memory_ids),
            "event_ids": list(doomed.event_ids),
            "reworded": sorted(reworded),
        }
        rows = await (await connection.execute(SQL["derived_of"], place)).fetchall()
        more = {memory_id for memory_id, derived, summary, sources, _ in rows if derived and (summary or not sources)}
        weakened |= {row[0] for row in rows}
        losing = {memory_id for memory_id, derived, _, _, carries in rows if derived and carries} - more
        if not more and losing <= reworded:
            break
        memory_ids |= more
        reworded |= losing
    return replace(
        doomed,
        memory_ids=tuple(sorted(memory_ids)),
        weakened=tuple(sorted(weakened - memory_ids)),
        reworded=tuple(sorted(reworded - memory_ids)),
    )
