"""`rearview eval rounds`: a thousand rounds of dialogue, then two hundred questions of six kinds.

A question is answered rightly when all turns that answer it are among the source events of the first five hits (each
cites at most three); one about a fact that has changed only when the turn with its present value also comes before the
one with the old value. Everything runs through the public API with default settings.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rearview.client import Client
from rearview.evaluation.ingest import append_session, fresh_namespace, wait_until_indexed
from rearview.evaluation.measures import mean, percentile_milliseconds
from rearview.evaluation.progress import Steps
from rearview.evaluation.rounds_text import ENDED_AT, HALVES, KINDS, Question, make_rounds
from rearview.v1 import recall_pb2

DEPTH = 5
CITED = 3


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, whether it was answered rightly, by which routes its evidence was found, and what came instead."""

    question: Question
    right: bool
    routes: frozenset[str]
    hits: tuple[str, ...]


def evaluate_rounds(client: Client, steps: Steps, *, seed: int = 0) -> dict[str, object]:
    """Store the rounds, wait until they are indexed, ask, and return the figures under the names of the output."""
    sessions, questions = make_rounds(seed)
    namespace = fresh_namespace(client, "eval-rounds")
    turns = sum(len(session.turns) for session in sessions)
    appended = steps.start("append", turns)
    key_of: dict[str, int] = {}
    for session in sessions:
        names = append_session(client, namespace, session.name, session.turns, appended)
        key_of.update({name: key for name, key in zip(names, session.keys, strict=True) if key is not None})
    wait_until_indexed(client, namespace, steps.track("index", turns))
    asked, seconds = steps.start("ask", len(questions)), list[float]()
    answered = []
    for question in questions:
        started = time.perf_counter()
        answer = client.recall(question.text, namespace=namespace, reference_time=ENDED_AT)
        seconds.append(time.perf_counter() - started)
        answered.append(judged(question, answer.hits, key_of))
        asked(1)
    return {
        "rounds_turns": turns,
        "memories": len(key_of),
        "questions": len(questions),
        **figures_of(answered),
        "p50_ms": percentile_milliseconds(seconds, 50),
        "p95_ms": percentile_milliseconds(seconds, 95),
    }


def judged(question: Question, hits: Sequence[recall_pb2.RecallHit], key_of: dict[str, int]) -> Answered:
    """Hold an answer against what was expected; `key_of` gives the statement of each event's name."""
    cited = [{key_of[event] for event in hit.events[:CITED] if event in key_of} for hit in hits]
    place = {key: at for at, keys in reversed(list(enumerate(cited))) for key in keys}
    last = len(hits)
    found = all(place.get(key, last) < min(DEPTH, last) for key in question.evidence)
    in_order = all(
        place.get(old, last) > place.get(new, last) for new in question.evidence for old in question.outdated
    )
    routes = {
        recall_pb2.RecallRoute.Name(route).removeprefix("RECALL_ROUTE_").lower()
        for hit, keys in zip(hits[:DEPTH], cited, strict=False)
        if keys.intersection(question.evidence)
        for route in hit.routes
    }
    texts = tuple(hit.highlights[0].text if hit.highlights else hit.memory.content for hit in hits[:DEPTH])
    return Answered(question, found and in_order, frozenset(routes), texts)


def figures_of(answered: Sequence[Answered]) -> dict[str, object]:
    """Return the accuracy in all, by kind and by half of the templates, and how often which route found the evidence;
    the questions that went wrong are listed for the half that is for tuning alone."""
    by_kind: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    by_half: dict[str, list[bool]] = {half: [] for half in HALVES}
    held_out_by_kind: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    routes: dict[str, Counter[str]] = defaultdict(Counter)
    for one in answered:
        by_kind[one.question.kind].append(one.right)
        by_half[one.question.half].append(one.right)
        if one.question.half == HALVES[1]:
            held_out_by_kind[one.question.kind].append(one.right)
        routes[one.question.kind].update(one.routes)
    return {
        "accuracy": round(mean(one.right for one in answered), 4),
        "by_kind": {kind: round(mean(rights), 4) for kind, rights in by_kind.items()},
        "by_half": {half: round(mean(rights), 4) for half, rights in by_half.items()},
        "held_out_by_kind": {kind: round(mean(rights), 4) for kind, rights in held_out_by_kind.items()},
        "routes": {kind: dict(counted.most_common()) for kind, counted in routes.items()},
        "wrong": [
            {"kind": one.question.kind, "question": one.question.text, "hits": list(one.hits)}
            for one in answered
            if not one.right and one.question.half == HALVES[0]
        ],
    }
