"""The commands on a running stack: demo, evaluations, status, doctor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rearview.client import Client, Turn
from tests.support.client_steps import eventually, indexed
from tests.support.commands import last_json, rearview
from tests.support.supervised_stack import SupervisedStack

LOCOMO = [
    {
        "sample_id": "two-friends",
        "conversation": {
            "speaker_a": "Nadia",
            "speaker_b": "Tomek",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {
                    "speaker": "Nadia",
                    "dia_id": "D1:1",
                    "text": "Hi Tomek! I finally adopted a greyhound called Biscuit.",
                },
                {"speaker": "Tomek", "dia_id": "D1:2", "text": "Lovely! I have started to learn the accordion."},
                {"speaker": "Nadia", "dia_id": "D1:3", "text": "My sister moves to Porto in August."},
            ],
            "session_2_date_time": "9:10 am on 20 June, 2023",
            "session_2": [
                {"speaker": "Tomek", "dia_id": "D2:1", "text": "I sprained my ankle on the climbing wall yesterday."},
                {
                    "speaker": "Nadia",
                    "dia_id": "D2:2",
                    "text": "Ouch. Look at this!",
                    "blip_caption": "a photo of a bookshelf that was painted green",
                },
            ],
        },
        "qa": [
            {"question": "Which dog did Nadia adopt?", "answer": "a greyhound", "evidence": ["D1:1"], "category": 4},
            {
                "question": "What instrument does Tomek learn?",
                "answer": "accordion",
                "evidence": ["D1:2"],
                "category": 1,
            },
            {"question": "Where does Nadia's sister move?", "answer": "Porto", "evidence": ["D1:3"], "category": 1},
            {"question": "What did Tomek injure in June?", "answer": "ankle", "evidence": ["D2:1"], "category": 2},
            {"question": "Which colour has the bookshelf?", "answer": "green", "evidence": ["D2:2"], "category": 3},
        ],
    }
]


def _memory(number: int, text: str, emotion: str, day: str) -> dict[str, object]:
    return {str(number): {"user-id": 1, "event": text, "emotion": emotion, "time": day, "scene": "home"}}


def _dialogue(relevant: int, *turns: str) -> dict[str, object]:
    return {"user-id": 1, "relevant-id": [relevant], "test-turn": [len(turns)], "dialogue": turns}


MADIAL = {
    "memories_zh.jsonl": [
        _memory(1, "小满第一次学会骑自行车，高兴得满院子转圈。", "开心", "2022-05-02"),
        _memory(2, "小满在图书馆把最喜欢的恐龙书弄丢了，难过了一整天。", "难过", "2022-06-11"),
        _memory(3, "小满和爷爷一起去湖边钓鱼，钓到一条大鲫鱼。", "开心", "2022-07-20"),
    ],
    "memories_en.jsonl": [
        _memory(1, "Xiaoman learned to ride a bicycle and circled the yard with joy.", "joy", "2022-05-02"),
        _memory(2, "Xiaoman lost her favourite dinosaur book and was sad all day.", "sad", "2022-06-11"),
        _memory(3, "Xiaoman went fishing at the lake with grandpa and caught a carp.", "joy", "2022-07-20"),
    ],
    "dialogues_zh_tiny.jsonl": [_dialogue(2, "<小满>：我又把书弄丢了。", "<Assistant>：别着急，是什么书？")],
    "dialogues_en_tiny.jsonl": [
        _dialogue(3, "<Xiaoman>: Grandpa wants to go fishing again.", "<Assistant>: That sounds fun!")
    ],
}


@pytest.fixture
def madial(tmp_path: Path) -> Path:
    for name, lines in MADIAL.items():
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_demo(stack: SupervisedStack) -> None:
    result = rearview(stack.folder.root, "demo", "--json")
    content = last_json(result)
    assert content["broken"] == []
    assert content["held"] == content["claims"] > 20
    assert result.returncode == 0, result.stderr


def test_eval_locomo(stack: SupervisedStack, tmp_path: Path) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(LOCOMO), encoding="utf-8")
    result = rearview(stack.folder.root, "eval", "locomo", str(file), "--json")
    assert result.returncode == 0, result.stderr
    figures = last_json(result)
    assert figures.keys() >= {"recall@5", "recall@10", "recall@20", "p50_ms", "p95_ms", "recall@10_by_category"}
    assert figures["questions"] == 5
    # All five turns of the conversation are among the first five hits.
    assert figures["recall@5"] == figures["recall@10"] == figures["recall@20"] == 1.0
    assert figures["recall@10_by_category"].keys() == {"1", "2", "3", "4"}


def test_eval_locomo_of_another_format(stack: SupervisedStack, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('[{"something": "else"}]', encoding="utf-8")
    result = rearview(stack.folder.root, "eval", "locomo", str(file), "--json")
    assert result.returncode == 1
    assert "is not of the LoCoMo format" in last_json(result)["error"]


@pytest.mark.parametrize("mixed", [False, True])
def test_eval_madial(stack: SupervisedStack, madial: Path, mixed: bool) -> None:
    arguments = ["eval", "madial", str(madial), "--json", *(["--mixed"] if mixed else [])]
    result = rearview(stack.folder.root, *arguments)
    assert result.returncode == 0, result.stderr
    figures = last_json(result)
    recalls = {name: value for name, value in figures.items() if "@" in name}
    assert recalls
    assert all(0 <= value <= 1 for value in recalls.values())


def test_eval_madial_without_its_files(stack: SupervisedStack, tmp_path: Path) -> None:
    result = rearview(stack.folder.root, "eval", "madial", str(tmp_path), "--json")
    assert result.returncode == 1
    assert "memories_zh.jsonl is missing" in last_json(result)["error"]


def test_status(stack: SupervisedStack) -> None:
    result = rearview(stack.folder.root, "status", "--json")
    assert result.returncode == 0, result.stderr
    content = last_json(result)
    assert content["state"] == "ready"
    assert content["gateway"] == stack.endpoints().gateway
    running = {one["name"]: one for one in content["processes"] if one["pid"]}
    assert set(running) == {"postgres", "valkey", "s3", "writer", "worker", "retriever", "lifecycle", "gateway"}
    assert all(one["memory_bytes"] > 0 for one in running.values())


def test_doctor(stack: SupervisedStack) -> None:
    result = rearview(stack.folder.root, "doctor", "--json")
    content = last_json(result)
    verdicts = {check["part"]: check["verdict"] for check in content["checks"]}
    assert result.returncode == 0, verdicts
    assert content["ok"] is True
    services = ("postgres", "pgvector", "migrations", "valkey", "s3", "writer", "retriever", "lifecycle", "gateway")
    assert {part: verdicts[part] for part in services} == dict.fromkeys(services, "ok")


def test_explain_says_what_became_of_a_turn(stack: SupervisedStack, client: Client) -> None:
    passport = "我的护照放在书房左边的抽屉里，电话 13912345678"
    events = client.append_events("s1", [Turn("user", text) for text in (passport, "好的，谢谢！", passport)]).events
    client.end_session("s1")
    indexed(client)
    told = []
    for event in events:
        result = rearview(stack.folder.root, "explain", event.name, "--json")
        assert result.returncode == 0, result.stderr
        assert "护照" not in result.stdout
        told.append(last_json(result))
    assert [one["outcome"] for one in told] == ["kept", "dropped", "merged"]
    assert told[2]["memories"] == told[0]["memories"] != []
    assert told[0]["redactions"] == ["PHONE"]
    assert told[0]["stage_milliseconds"]["novelty"] > 0
    assert rearview(stack.folder.root, "explain", "nonsense", "--json").returncode == 1


def test_explain_says_what_a_recall_did(stack: SupervisedStack, client: Client) -> None:
    said = (
        "我对花生过敏，电话 13912345678",
        "The offsite is in Lisbon in May",
        "我对花生过敏，电话 13912345678",
        "椅子要带扶手",
    )
    for text in said:
        client.remember(text)
    indexed(client)
    recalled = client.recall(
        "我对什么过敏，what am I allergic to? 13912345678", top_k=1, no_cache=True, explain_plan=True
    )
    asked = recalled.trace.removeprefix("recallTraces/")
    told = last_json(
        eventually(
            lambda: rearview(stack.folder.root, "explain", asked, "--json"),
            lambda result: result.returncode == 0,
            "the trace to be written",
        )
    )
    assert "13912345678" not in told["query"]
    assert "plan" not in told
    first, *others = told["candidates"]
    assert first["resource_name"] == recalled.hits[0].memory.name
    assert first["rank"] == 1
    assert others
    assert {one["dropped_because"] for one in others} <= {"below_top_k", "near_duplicate", "below_floor"}
    assert told["route_counts"]["vector"] > 0
    planned = last_json(rearview(stack.folder.root, "explain", recalled.trace, "--plan", "--json"))
    assert "actual time" in planned["plan"]

    shown = rearview(stack.folder.root, "explain", recalled.trace, "--candidates", "2")
    assert shown.returncode == 0, shown.stderr
    for expected in (
        "found by route",
        "milliseconds",
        "left out (degraded)",
        "relevance is made of",
        "cosine",
        "--candidates",
    ):
        assert expected in shown.stdout
    assert not any(text.split("，")[0] in shown.stdout for text in said)
    unknown = rearview(stack.folder.root, "explain", "recallTraces/019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b", "--json")
    assert unknown.returncode == 1
    assert "does not exist" in last_json(unknown)["error"]


def test_calibrate_measures_the_built_in_model(stack: SupervisedStack, tmp_path: Path) -> None:
    result = rearview(stack.folder.root, "calibrate", "--json")
    assert result.returncode == 0, result.stderr
    figures = last_json(result)
    assert figures["segment_boundary_cosine"] == pytest.approx(0.336, abs=0.01)
    assert figures["card"] is None
    assert rearview(tmp_path, "calibrate", "--model", str(tmp_path / "nothing"), "--json").returncode == 1


def test_audit_verify_says_whether_the_log_is_what_it_was(stack: SupervisedStack) -> None:
    result = rearview(stack.folder.root, "audit", "verify", "--json")
    found = last_json(result)
    assert result.returncode == 0
    assert found["intact"] is True
    assert isinstance(found["checked"], int)
