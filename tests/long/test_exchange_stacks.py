"""From one stack to another, empty one: the copy answers as the original, and no crash on the way makes a second."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import pytest

from rearview.client import Client, Turn
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.bench_texts import bench_sessions
from rearview.evaluation.ingest import append_session
from rearview.evaluation.rounds_text import make_rounds
from tests.acceptance.conftest import CALL_TIMEOUT_SECONDS, in_fresh_namespace
from tests.acceptance.conversations import CONVERSATIONS
from tests.long.conftest import whole_stack
from tests.long.report import report
from tests.support.client_steps import indexed, namespace_of, text_of, whole
from tests.support.commands import last_json, rearview
from tests.support.exports import at_rest, exported, multiplied
from tests.support.supervised_stack import ROOT, SupervisedStack, environment

SPOKEN_TURNS = 1_500
MIXED_SESSIONS = 30
NOTES = 500
QUERIES = 200
COMPARED = 10
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
TIE = 1e-3
"""What sums of 32-bit and 16-bit numbers in another order change of a score."""
SHIFT = 0.01
"""Near the floor, where many candidates are alike, one more or less in a list moves scores by less than this."""
MOST_DIFFERING = 2

PARCELS = 20_000


@pytest.fixture(scope="module")
def other_stack() -> Iterator[SupervisedStack]:
    """A second stack, with nothing in it."""
    with whole_stack() as opened:
        yield opened


@pytest.fixture(scope="module")
def other(other_stack: SupervisedStack) -> Iterator[Client]:
    """The admin of the second stack."""
    endpoints = other_stack.endpoints()
    assert endpoints.gateway is not None
    assert endpoints.admin_key is not None
    with Client.connect(endpoints.gateway, endpoints.admin_key, timeout_seconds=CALL_TIMEOUT_SECONDS) as client:
        yield client


@pytest.fixture(scope="module")
def questions() -> list[str]:
    """Questions about what `original` holds: in Chinese, in English and in both."""
    spoken = list(chain.from_iterable(session.questions for session in bench_sessions(SPOKEN_TURNS)))
    noted = list(chain.from_iterable(session.questions for session in bench_sessions(NOTES, seed=1)))
    told = [question.query for one in CONVERSATIONS for question in one.questions.values()]
    rounds = [question.text for question in make_rounds()[1]]
    both = [f"{zh} {en}" for zh, en in zip(spoken[:10], spoken[10:20], strict=True)]
    found = dict.fromkeys([*told, *both, *_spread(rounds, 50), *_spread(noted, 60), *_spread(spoken, 150)])
    return list(found)[:QUERIES]


def _spread(texts: list[str], count: int) -> list[str]:
    return [texts[place * len(texts) // count] for place in range(count)]


@pytest.fixture(scope="module")
def original(admin: Client, endpoints: Endpoints) -> Client:
    """A namespace of some thousand turns and memories: dialogues, notes, what changed and what was forgotten."""
    client = in_fresh_namespace(admin)
    name = namespace_of(client)
    for session in bench_sessions(SPOKEN_TURNS):
        append_session(client, name, session.name, _answered(session.turns), lambda _: None)
    zh_and_en = list(bench_sessions(2 * 10 * MIXED_SESSIONS, seed=2))
    for zh, en in zip(zh_and_en[::2], zh_and_en[1::2], strict=True):
        turns = [
            Turn("user", f"{one.content} {two.content}", occurred_at=one.occurred_at)
            for one, two in zip(zh.turns, en.turns, strict=True)
        ]
        append_session(client, name, f"mixed-{zh.name}", turns, lambda _: None)
    for part in make_rounds()[0]:
        append_session(client, name, f"rounds-{part.name}", part.turns, lambda _: None)
    for conversation in CONVERSATIONS:
        for key, turns in conversation.sessions.items():
            append_session(client, name, f"{conversation.name}-{key}", turns, lambda _: None)
    _note(client)
    indexed(client)
    at_rest(client, endpoints)
    return client


def _answered(turns: tuple[Turn, ...]) -> list[Turn]:
    said: list[Turn] = []
    for at, turn in enumerate(turns):
        said.append(turn)
        if at % 3 == 0 and turn.occurred_at is not None:
            text = ("好的，记下了。", "Noted, I will remind you.", "OK，我 note 一下。")[at % 9 // 3]
            said.append(Turn("assistant", text, occurred_at=turn.occurred_at + timedelta(seconds=5)))
    return said


def _note(client: Client) -> None:
    texts = [turn.content for session in bench_sessions(NOTES, seed=1) for turn in session.turns]
    for at, text in enumerate(texts):
        kept = client.remember(
            text,
            type="fact" if at % 4 == 0 else "explicit",
            labels={"project": f"p{at % 7}"} if at % 3 == 0 else {},
            priority=(at % 10) / 10,
            pinned=at % 50 == 0,
            occurred_at=NOW - timedelta(hours=at),
        ).memory
        if at % 40 == 7:
            client.update_memory(kept.name, {"content": f"{text} (checked / 已核对)"})
        if at % 60 == 11:
            client.forget(memories=[kept.name])


def test_the_copy_in_an_empty_stack_answers_as_the_original(
    original: Client, other: Client, other_stack: SupervisedStack, questions: list[str], tmp_path: Path
) -> None:
    assert len(questions) == QUERIES
    file = tmp_path / "original.jsonl"
    lines = exported(original, file)
    copy = other.with_options(namespace=namespace_of(original))
    other.create_namespace(namespace_of(original))
    result = copy.import_memories(file)
    assert (result.stored_count, result.stored_event_count) == (lines[-1]["memories"], lines[-1]["events"])
    assert (result.made_vector_count, result.problem_count, result.refused_count) == (0, 0, 0)
    at_rest(copy, other_stack.endpoints())

    same, tied, differing = 0, 0, []
    for query in questions:
        ours, theirs = _ranked(original, query), _ranked(copy, query)
        if [hit.text for hit in ours[:COMPARED]] == [hit.text for hit in theirs[:COMPARED]]:
            same += 1
        elif _same_within(TIE, ours, theirs):
            tied += 1
        else:
            both = {"original": [asdict(hit) for hit in ours], "copy": [asdict(hit) for hit in theirs]}
            differing.append({"query": query, **both})
            assert _same_within(SHIFT, ours, theirs), differing[-1]
    figures = {
        "events": lines[-1]["events"],
        "memories": lines[-1]["memories"],
        "queries": len(questions),
        "same_list": same,
        "same_but_for_ties": tied,
        "differing": differing,
    }
    report("copy", figures)
    assert len(differing) <= MOST_DIFFERING, figures


@dataclass(frozen=True, slots=True)
class _Hit:
    """What a hit says, and how far up it stands."""

    text: str
    score: float
    routes: tuple[int, ...]


def _ranked(client: Client, query: str) -> list[_Hit]:
    answer = whole(lambda: client.recall(query, top_k=COMPARED + 5, no_cache=True, reference_time=NOW))
    return [
        _Hit(f"{hit.memory.content}\n{text_of(hit)}", round(hit.score.total, 5), tuple(hit.routes))
        for hit in answer.hits
    ]


def _same_within(difference: float, ours: list[_Hit], theirs: list[_Hit]) -> bool:
    """Whether each place has the same hit, or another that scores the same, in both answers as far as it is in both."""
    known, last = {hit.text: hit.score for hit in ours}, ours[-1].score if ours else 0.0
    return len(ours) == len(theirs) and all(
        abs(one.score - other.score) <= difference and abs(known.get(other.text, last) - other.score) <= difference
        for one, other in zip(ours[:COMPARED], theirs[:COMPARED], strict=True)
    )


@pytest.mark.parametrize("dies", ["client", "gateway", "writer"])
def test_an_import_that_dies_goes_on_without_duplicates(
    other: Client, other_stack: SupervisedStack, tmp_path: Path, dies: str
) -> None:
    client = in_fresh_namespace(other)
    texts = [f"第{at}号柜子 holds parcel {dies}-{at:05}" for at in range(PARCELS)]
    sample = in_fresh_namespace(other)
    sample.remember("第一号柜子 holds a parcel")
    manifest, memory, _ = exported(sample, tmp_path / "one.jsonl")
    file = multiplied(tmp_path / "parcels.jsonl", manifest, memory, texts)
    arguments = ["import", str(file), "--namespace", namespace_of(client), "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rearview.cli", *arguments],
        cwd=ROOT,
        env=environment(REARVIEW_HOME=str(other_stack.folder.root)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _until_stored(client, PARCELS // 3, process)
    if dies == "client":
        process.kill()
        assert process.wait() == -signal.SIGKILL
    else:
        other_stack.replace(dies, signal.SIGKILL)
        assert process.wait(timeout=120) == 1
    result = rearview(other_stack.folder.root, *arguments, "--resume")
    assert result.returncode == 0, result.stderr
    counts = last_json(result)
    assert counts["complete"]
    assert counts["unchanged_count"] == 0
    assert 0 < counts["stored_count"] < PARCELS
    stored = [memory.content for memory in client.list_memories(page_size=1000)]
    assert len(stored) == PARCELS
    assert set(stored) == set(texts)


def _until_stored(client: Client, count: int, process: subprocess.Popen[bytes]) -> None:
    while client.tier_stats().tiers[0].memory_count < count:
        assert process.poll() is None
        time.sleep(0.5)
