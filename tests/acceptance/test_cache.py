"""The semantic cache, as its callers see it: what hits, what never does, and that no answer is ever stale."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rearview.client import Client, Turn
from rearview.domain.errors import NamespaceDenied
from rearview.embedded.endpoints import Endpoints
from rearview.evaluation.ingest import fresh_namespace
from rearview.v1 import recall_pb2
from tests.support.client_steps import indexed, out_of_the_cache
from tests.support.exports import exported, made

STEPS = 10_000 if os.environ.get("REARVIEW_TEST_PROFILE") == "thorough" else 120
CLIENTS = 4
TOP_K = 50
MOST_TEXTS = 40
"""So many fit into an answer. What comes first of more depends on use, too, and an answer is as old as its entry."""
TOPICS = ("咖啡", "护照", "预算", "猫粮", "牙医", "coffee", "passport", "budget", "dentist", "landlord")
QUESTIONS = tuple(f"我的{topic}放在哪里" if topic[0] > "\u3000" else f"Where did I put the {topic}" for topic in TOPICS)


def _hit(answer: recall_pb2.RecallResponse) -> bool:
    return answer.cache.hit


def test_the_same_question_hits_in_other_words_too(client: Client) -> None:
    client.remember("我妈妈的生日是五月三号")
    client.remember("Bob's phone is in the blue drawer of the kitchen")
    assert not _hit(client.recall("我妈妈的生日是哪天"))
    again = out_of_the_cache(lambda: client.recall("我妈妈的生日是哪天"))
    assert again.cache.similarity == 1.0
    assert _hit(client.recall("请问我母亲的生日是什么时候？"))
    assert not _hit(client.recall("我爸爸的生日是哪天"))
    assert not _hit(client.recall("我妈妈的生日是哪天", no_cache=True))
    assert not _hit(client.recall("我妈妈的生日是哪天", top_k=3))
    assert not _hit(client.recall("Where is Bob's phone in the kitchen"))
    out_of_the_cache(lambda: client.recall("Where is Bob's phone in the kitchen"))
    assert _hit(client.recall("Can you tell me where Bob's phone is in the kitchen?"))
    assert _hit(client.recall("In the kitchen, where is Bob's phone?"))


def test_what_points_at_the_session_hits_within_its_session_and_turn_alone(client: Client) -> None:
    for session in ("one", "two"):
        client.append_events(session, [Turn("user", "我们说说京都的旅馆")])
    indexed(client)  # a turn that becomes a memory may enter any answer
    assert not _hit(client.recall("那个呢？", session="one"))
    out_of_the_cache(lambda: client.recall("那个呢？", session="one"))
    assert not _hit(client.recall("那个呢？", session="two"))
    assert not _hit(client.recall("那个呢", session="one"))
    client.append_events("one", [Turn("user", "还有大阪的")])
    assert not _hit(client.recall("那个呢？", session="one"))
    assert not _hit(client.recall("what about it?"))
    assert not _hit(client.recall("what about it?"))


def test_an_answer_outlives_no_change_of_what_may_be_seen(client: Client) -> None:
    kept = client.remember("备用钥匙在邻居那里").memory

    def ask() -> recall_pb2.RecallResponse:
        return client.recall("备用钥匙在哪里放着")

    out_of_the_cache(ask)
    client.remember("The spare key: 备用钥匙 now hangs in the garage")
    assert not _hit(ask())
    out_of_the_cache(ask)
    client.forget(memories=[kept.name])
    after = ask()
    assert not _hit(after)
    assert all(hit.memory.name != kept.name for hit in after.hits)


def test_a_turn_that_shares_no_word_ends_answers_until_it_is_indexed(client: Client) -> None:
    """It is a candidate of every answer while nothing but its words is known of it."""
    for text in ("备用钥匙在邻居那里", "The passport is in the blue drawer", "Rent is due on Friday", "牙医约在周二"):
        client.remember(text)

    def ask() -> recall_pb2.RecallResponse:
        return client.recall("备用钥匙在哪里放着")

    out_of_the_cache(ask)
    client.append_events("walk", [Turn("user", "My dog is called Pixel and she loves snow")])
    after = ask()
    assert not _hit(after)
    indexed(client)
    fresh = client.recall("备用钥匙在哪里放着", no_cache=True)
    assert _texts(ask()) == _texts(fresh)


@pytest.mark.timeout(3_600)  # the whole walk takes some 20 minutes
def test_cached_answers_never_differ_from_fresh_ones_in_what_they_contain(
    admin: Client, endpoints: Endpoints, tmp_path: Path
) -> None:
    """Writes, updates, forgets, grants, exports, imports and recalls interleave at random. A cached answer lies between
    fresh ones made before and after it, and holds nothing that was forgotten or replaced before it was asked for."""
    guest_key = admin.create_api_key("cache-guest", "read").secret
    assert endpoints.gateway is not None
    seed = random.randrange(2**32)
    with Client.connect(endpoints.gateway, guest_key, timeout_seconds=30.0) as guest:
        models = [_Model(admin, guest, tmp_path)]
        chance = random.Random(seed)
        for _ in range(STEPS // CLIENTS):
            if models[-1].texts == MOST_TEXTS:
                models.append(_Model(admin, guest, tmp_path))
            models[-1].step(chance)
    assert any(model.hits for model in models), f"nothing was ever cached, seed {seed}"


class _Model:
    """What was said and taken back so far. Each step is one write and, from several clients at once, recalls."""

    def __init__(self, admin: Client, guest: Client, folder: Path) -> None:
        self.namespace = fresh_namespace(admin, "cache")
        self.owner, self.guest = admin.with_options(namespace=self.namespace), guest
        self.folder = folder
        self.last_export: Path | None = None
        self.live: dict[str, str] = {}
        self.gone: set[str] = set()
        self.granted = False
        self.said = 0
        self.hits = 0

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return self.said - len(self.gone)

    def step(self, chance: random.Random) -> None:
        writes = (self._remember, self._append, self._update, self._forget, self._grant, self._export, self._import)
        chance.choice((*writes, self._import_again, lambda _: None))(chance)
        questions = [chance.choice(QUESTIONS) for _ in range(CLIENTS - 1)]
        with ThreadPoolExecutor(CLIENTS) as clients:
            for checked in [clients.submit(self._check, question) for question in [*questions, questions[0]]]:
                checked.result()

    def _check(self, question: str) -> None:
        reader = self.guest if self.granted else self.owner
        before, cached, after = (
            reader.recall(question, namespace=self.namespace, top_k=TOP_K, no_cache=fresh)
            for fresh in (True, False, True)
        )
        texts = [_texts(answer) for answer in (before, cached, after)]
        assert not texts[1] & self.gone, question
        if not self.granted:
            with pytest.raises(NamespaceDenied):
                self.guest.recall(question, namespace=self.namespace, top_k=TOP_K)
        if _hit(cached):
            self.hits += 1
            assert texts[0] & texts[2] <= texts[1] <= texts[0] | texts[2], question

    def _text(self, chance: random.Random) -> str:
        self.said += 1
        topic = chance.choice(TOPICS)
        return f"第{self.said}次：{topic}放好了" if topic[0] > "\u3000" else f"note {self.said}: the {topic} is done"

    def _remember(self, chance: random.Random) -> None:
        text = self._text(chance)
        self.live[self.owner.remember(text).memory.name] = text

    def _append(self, chance: random.Random) -> None:
        self.owner.append_events(f"s{chance.randrange(4)}", [Turn("user", self._text(chance))])

    def _update(self, chance: random.Random) -> None:
        if self.live:
            name, text = chance.choice(list(self.live.items()))
            new = self._text(chance)
            self.owner.update_memory(name, {"content": new})
            self.gone.add(text)
            self.live[name] = new

    def _forget(self, chance: random.Random) -> None:
        if self.live:
            name = chance.choice(list(self.live))
            self.owner.forget(memories=[name])
            self.gone.add(self.live.pop(name))

    def _export(self, _: random.Random) -> None:
        self.last_export = self.folder / f"export-{self.said}.jsonl"
        lines = exported(self.owner, self.last_export)
        assert not self.gone & {line.get("content") for line in lines}

    def _import(self, chance: random.Random) -> None:
        file = made(self.folder / "others.jsonl", [{"content": self._text(chance)}])
        assert self.owner.import_memories(file).stored_count == 1

    def _import_again(self, _: random.Random) -> None:
        # What was forgotten or replaced since is in the file, and does not come back.
        if self.last_export is not None:
            assert self.owner.import_memories(self.last_export).complete

    def _grant(self, _: random.Random) -> None:
        if self.granted:
            self.owner.revoke_access("cache-guest")
        else:
            self.owner.grant_access("cache-guest")
        self.granted = not self.granted


def _texts(answer: recall_pb2.RecallResponse) -> set[str]:
    return {hit.highlights[0].text if hit.highlights else hit.memory.content for hit in answer.hits}
