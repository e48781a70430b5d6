"""Carrying out the steps of a scenario, each one public call (or a few of the same)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from rearview.client import ToolCall, Turn
from rearview.client.values import memory_filter
from rearview.evaluation.scenarios.answer import Answer, of_forgotten, of_memories, of_recall, of_texts, of_trace
from rearview.evaluation.scenarios.bulk_steps import BULK_STEPS
from rearview.evaluation.scenarios.place import Place, at_once
from rearview.evaluation.scenarios.scenario import (
    Append,
    Filter,
    Forget,
    Grant,
    ListMemories,
    Recall,
    Remember,
    SaidTurn,
    Step,
    Update,
)
from rearview.evaluation.scenarios.stage import Stage
from rearview.evaluation.scenarios.tier_steps import TIER_STEPS
from rearview.v1 import event_pb2, forget_pb2, memory_service_pb2, recall_pb2


def carry_out(step: Step, stage: Stage) -> Answer:
    """Make the step's call and return what it came to.

    Raises:
        RearviewError: the call failed.
    """
    place = Place(stage, stage.client(step.by), stage.keeper(step.namespace), stage.namespace(step.namespace))
    return _ACTIONS[step.action](step.argument, place)


def _append(append: Append, place: Place) -> Answer:
    turns, request_id = _turns(append), place.stage.request_id(append.request_id)

    def call() -> memory_service_pb2.AppendEventsResponse:
        return place.client.append_events(append.session, turns, namespace=place.namespace, request_id=request_id)

    response = at_once(call, append.at_once)[-1]
    if append.end:
        place.client.end_session(append.session, namespace=place.namespace)
    if append.settle:
        place.settle()
    return of_texts([event.content for event in response.events])


def _turns(append: Append) -> list[Turn]:
    moment = append.at
    turns = []
    for said in append.turns:
        moment = said.at or moment
        turns.append(_turn(said, moment))
        moment = moment + timedelta(minutes=1) if moment else None
    return turns


def _turn(said: SaidTurn, moment: datetime | None) -> Turn:
    ((role, text),) = said.said.items()
    tool = ToolCall(said.tool_name, result=text, arguments=said.arguments) if role == "tool" else None
    return Turn(
        role=role,
        content="" if tool else text,
        speaker=said.speaker,
        occurred_at=moment,
        tool_call=tool,
        metadata=said.metadata,
    )


def _end(session: str, place: Place) -> Answer:
    place.client.end_session(session, namespace=place.namespace)
    place.settle()
    return Answer()


def _remember(new: Remember, place: Place) -> Answer:
    request_id = place.stage.request_id(new.request_id)

    def call() -> memory_service_pb2.RememberResponse:
        return place.client.remember(
            new.content,
            type=new.type,
            priority=new.priority,
            pinned=new.pinned,
            labels=new.labels,
            metadata=new.metadata,
            entities=new.entities,
            occurred_at=new.at,
            valid_from=new.valid_from,
            expires_at=new.expires_at,
            session=new.session,
            namespace=place.namespace,
            request_id=request_id,
        )

    response = at_once(call, new.at_once)[-1]
    if new.name:
        place.stage.memories[new.name] = response.memory.name
    outcome = memory_service_pb2.RememberOutcome.Name(response.outcome).removeprefix("REMEMBER_OUTCOME_").lower()
    return of_memories([response.memory], outcome=outcome)


def _recall(ask: Recall, place: Place) -> Answer:
    client = (
        place.client
        if ask.deadline_seconds is None
        else place.client.with_options(timeout_seconds=ask.deadline_seconds)
    )

    def call() -> recall_pb2.RecallResponse:
        return client.recall(
            ask.query,
            dialogue=[(role, text) for turn in ask.dialogue for role, text in turn.items()],
            top_k=ask.k,
            filter=_filter(ask.filter, place.namespace),
            additional_namespaces=[place.stage.namespace(name) for name in ask.with_namespaces],
            session=ask.session,
            as_of=ask.as_of,
            time_zone=ask.time_zone,
            reference_time=ask.asked_at,
            disabled_routes=ask.without_routes,
            include_cold=ask.include_cold,
            no_cache=ask.no_cache,
            profile=ask.profile,
            context_token_budget=ask.token_budget,
            namespace=place.namespace,
        )

    answer = [at_once(call, ask.at_once) for _ in range(ask.times)][-1][-1]
    if ask.name:
        place.stage.traces[ask.name] = answer.trace
    return of_recall(answer)


def _trace(recall: str, place: Place) -> Answer:
    return of_trace(place.client.get_recall_trace(place.stage.trace(recall)))


def _get(memory: str, place: Place) -> Answer:
    return of_memories([place.client.get_memory(place.stage.memory(memory))])


def _list(wanted: ListMemories, place: Place) -> Answer:
    return of_memories(
        list(
            place.client.list_memories(
                filter=_filter(wanted.filter, place.namespace),
                states=wanted.states,
                as_of=wanted.as_of,
                namespace=place.namespace,
            )
        )
    )


def _history(memory: str, place: Place) -> Answer:
    return of_memories(list(place.client.memory_history(place.stage.memory(memory))))


def _update(update: Update, place: Place) -> Answer:
    return of_memories([place.client.update_memory(place.stage.memory(update.memory), update.changes)])


def _undo(memory: str, place: Place) -> Answer:
    return of_memories([place.client.undo_supersession(place.stage.memory(memory))])


def _forget(wanted: Forget, place: Place) -> Answer:
    memories = [place.stage.memory(name) for name in wanted.memories]
    selected = _filter(wanted.filter, place.namespace)

    def forget(*, preview: bool, token: str) -> forget_pb2.ForgetReceipt:
        return place.client.forget(
            memories=memories,
            session=wanted.session,
            last_turns=wanted.last_turns,
            subject=wanted.subject,
            query=wanted.query,
            filter=selected,
            preview=preview,
            confirmation_token=token,
            skip_grace_period=wanted.now,
            namespace=place.namespace,
        )

    token = ""
    if wanted.confirm and wanted.query is not None:
        token = forget(preview=True, token="").confirmation_token
    receipt = forget(preview=False, token=token)
    if wanted.name:
        place.stage.receipts[wanted.name] = receipt.name
    return of_forgotten(receipt)


def _restore(receipt_name: str, place: Place) -> Answer:
    receipt = place.client.restore(place.stage.receipt(receipt_name))
    return of_forgotten(receipt)


def _grant(grant: Grant, place: Place) -> Answer:
    place.client.grant_access(place.stage.principal(grant.to), write=grant.write, namespace=place.namespace)
    return Answer()


def _revoke(actor: str, place: Place) -> Answer:
    place.client.revoke_access(place.stage.principal(actor), namespace=place.namespace)
    return Answer()


def _subscribe(namespace: str, place: Place) -> Answer:
    place.client.subscribe(place.stage.namespace(namespace))
    return Answer()


def _events(session: str, place: Place) -> Answer:
    events = list(place.client.list_events(session, namespace=place.namespace))
    redactions = sorted({category for event in events for category in event.redactions})
    return of_texts([_text_of(event) for event in events], redactions=redactions)


def _working_memory(session: str, place: Place) -> Answer:
    turns = place.client.working_memory(session, namespace=place.namespace).turns
    return of_texts([_text_of(turn.event) for turn in turns])


def _capture(session: str, place: Place) -> Answer:
    """What became of the last turn of a session."""
    last = list(place.client.list_events(session, namespace=place.namespace))[-1]
    trace = place.client.capture_trace(last.name)
    return of_texts([trace.reason], outcome=_outcome(trace), redactions=sorted(trace.redactions))


def _captures(session: str, place: Place) -> Answer:
    """What became of each turn of a session, oldest first."""
    events = place.client.list_events(session, namespace=place.namespace)
    return of_texts([_outcome(place.client.capture_trace(event.name)) for event in events])


def _outcome(trace: event_pb2.CaptureTrace) -> str:
    return event_pb2.CaptureOutcome.Name(trace.outcome).removeprefix("CAPTURE_OUTCOME_").lower()


def _filter(wanted: Filter | None, namespace: str) -> recall_pb2.MemoryFilter | None:
    if wanted is None:
        return None
    return memory_filter(
        types=wanted.types,
        start=wanted.since,
        end=wanted.until,
        entities=wanted.entities,
        session=f"namespaces/{namespace}/sessions/{wanted.session}" if wanted.session else "",
        labels=wanted.labels,
        origins=wanted.origins,
    )


def _text_of(event: event_pb2.Event) -> str:
    return event.content or event.tool_call.result


_ACTIONS: dict[str, Callable[[Any, Place], Answer]] = {
    "append": _append,
    "end": _end,
    "remember": _remember,
    "recall": _recall,
    "trace": _trace,
    "get": _get,
    "list_memories": _list,
    "history": _history,
    "update": _update,
    "undo": _undo,
    "forget": _forget,
    "restore": _restore,
    "grant": _grant,
    "revoke": _revoke,
    "subscribe": _subscribe,
    "events": _events,
    "working_memory": _working_memory,
    "capture": _capture,
    "captures": _captures,
    **TIER_STEPS,
    **BULK_STEPS,
}
