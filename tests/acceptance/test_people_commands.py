"""The commands for people, as a person types them, in a namespace of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rearview.client import Client
from rearview.domain.errors import CredentialInvalid, NamespaceDenied
from rearview.embedded.endpoints import Endpoints
from tests.support.client_steps import namespace_of
from tests.support.commands import last_json, rearview
from tests.support.supervised_stack import SupervisedStack

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(stack: SupervisedStack, client: Client) -> Run:
    """Run a command in the test's namespace; return what it says as JSON."""

    def running(*arguments: str, code: int = 0) -> dict[str, Any]:
        result = rearview(stack.folder.root, *arguments, "--namespace", namespace_of(client), "--json")
        assert result.returncode == code, result.stderr
        return last_json(result)

    return running


def test_remember_recall_show_list_history(run: Run, stack: SupervisedStack, client: Client) -> None:
    made = run("remember", "沙发的预算是八千元", "--type", "fact", "--label", "project=sofa")
    assert made["outcome"] == "created"
    changed = run("remember", "沙发的预算改成一万二", "--type", "fact")
    assert changed["outcome"] == "superseded"
    name = changed["memory"]["name"]
    found = run("recall", "what is the budget of the sofa?", "--top-k", "3")
    assert name in [hit["memory"]["name"] for hit in found["hits"]]
    assert run("show", name)["content"] == "沙发的预算改成一万二"
    assert [one["name"] for one in run("list", "--limit", "1")["memories"]] == [name]
    assert [one["content"] for one in run("list", "--state", "superseded")["memories"]] == ["沙发的预算是八千元"]
    assert run("list", "--label", "project=none")["memories"] == []
    assert [one["content"] for one in run("history", name)["memories"]] == [
        "沙发的预算改成一万二",
        "沙发的预算是八千元",
    ]
    shown = rearview(stack.folder.root, "recall", "预算", "--namespace", namespace_of(client))
    assert name.rpartition("/")[2] in shown.stdout
    assert "沙发的预算改成一万二" in shown.stdout


def test_holds_and_dead_letters(run: Run, stack: SupervisedStack, client: Client) -> None:
    memory = run("remember", "韩梅梅 has the key to the archive")["memory"]["name"]
    run("holds", "set", memory, "--reason", "case 17")
    run("holds", "set", "--subject", "韩梅梅", "--reason", "案件 17")
    assert [hold["resource_name"] for hold in run("holds", "list")["legal_holds"]] == [
        f"namespaces/{namespace_of(client)}",
        memory,
    ]
    run("forget", memory, "--yes", code=1)
    shown = rearview(stack.folder.root, "holds", "list", "--namespace", namespace_of(client))
    assert "legalHolds/" in shown.stdout
    run("holds", "lift", memory, "--reason", "closed")
    run("holds", "lift", "--subject", "韩梅梅", "--reason", "结案")
    assert run("holds", "list")["legal_holds"] == []
    letters = rearview(stack.folder.root, "dead-letters", "list", "--json")
    assert last_json(letters)["dead_letters"] == []
    missing = rearview(stack.folder.root, "dead-letters", "replay", "deadLetters/1", "--json")
    assert missing.returncode == 1
    assert "no such dead letter" in last_json(missing)["error"]
    assert rearview(stack.folder.root, "dead-letters", "replay").returncode == 2


def test_a_transcript_is_appended_once_and_what_was_forgotten_stays_so(
    run: Run, client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "visit.jsonl"
    said = ["我对花生过敏。", "The dentist is on Mill Lane 14.", "下次复诊是三月五号。"]
    file.write_text(
        "\n".join(json.dumps({"role": "user", "content": text}, ensure_ascii=False) for text in said), encoding="utf-8"
    )
    assert run("append", str(file), "--wait") == {"turns": 3, "sessions": 1, "forgotten_before": 0}
    assert run("append", str(file)) == {"turns": 3, "sessions": 1, "forgotten_before": 0}
    assert [event.content for event in client.list_events("visit")] == said
    hits = run("recall", "where is the dentist?", "--top-k", "3")["hits"]
    assert "Mill Lane" in hits[0]["highlights"][0]["text"]
    run("forget", "--session", "visit", "--last-turns", "1", "--yes")
    assert run("append", str(file)) == {"turns": 2, "sessions": 1, "forgotten_before": 1}
    assert [event.content for event in client.list_events("visit")] == said[:2]


def test_a_wrong_transcript_stores_nothing(run: Run, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    file.write_text('{"role": "user", "content": "好"}\n{"role": "narrator", "content": "x"}', encoding="utf-8")
    assert "wrong.jsonl:2.role: 'narrator' is none of" in run("append", str(file), code=1)["error"]
    assert list(client.list_sessions()) == []


def test_forget_asks_first_and_proves(run: Run, stack: SupervisedStack, client: Client) -> None:
    name = run("remember", "小王的生日是五月三号 (Wang's birthday)")["memory"]["name"]
    place = ("--namespace", namespace_of(client))
    assert run("forget", "--subject", "小王", "--preview")["state"] == "preview"
    asked = rearview(stack.folder.root, "forget", "--subject", "小王", *place)  # nobody there to answer
    assert asked.returncode == 1
    assert run("show", name)["name"] == name
    receipt = run("forget", name, "--yes", "--reason", "asked for")
    assert receipt["state"] == "tombstoned"
    assert "error" in run("show", name, code=1)
    root = stack.folder.root
    assert last_json(rearview(root, "restore", receipt["name"], "--json"))["state"] == "restored"
    assert run("show", name)["name"] == name
    receipt = run("forget", name, "--yes", "--now")
    proven = rearview(root, "receipt", receipt["name"], "--wait", "120", "--json")
    assert proven.returncode == 0, proven.stderr
    assert last_json(proven)["state"] == "verified"


def test_keys_and_namespaces(stack: SupervisedStack, client: Client, endpoints: Endpoints) -> None:
    root, namespace = stack.folder.root, f"{namespace_of(client)}-b"
    made = rearview(root, "namespaces", "create", namespace, "--display-name", "团队", "--json")
    assert last_json(made)["display_name"] == "团队"
    assert namespace in rearview(root, "namespaces", "list").stdout
    created = last_json(rearview(root, "keys", "create", "bot", "--role", "read", "-n", namespace, "--json"))
    key = created["api_key"]["name"].removeprefix("apiKeys/")
    assert endpoints.gateway is not None
    with Client.connect(endpoints.gateway, created["secret"], namespace=namespace) as bot:
        with pytest.raises(NamespaceDenied):
            next(bot.list_memories(), None)
        assert rearview(root, "namespaces", "grant", namespace, "bot", "--json").returncode == 0
        assert list(bot.list_memories()) == []
        assert rearview(root, "namespaces", "revoke", namespace, "bot", "--json").returncode == 0
        with pytest.raises(NamespaceDenied):
            next(bot.list_memories(), None)
        listed = rearview(root, "keys", "list")
        assert key in listed.stdout
        assert created["secret"] not in listed.stdout
        assert rearview(root, "keys", "revoke", key, "--json").returncode == 0
        with pytest.raises(CredentialInvalid):
            next(bot.list_memories(), None)
    assert last_json(rearview(root, "namespaces", "delete", namespace, "--yes", "--json"))["deleted"] == namespace


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("recall", "x", "--since", "yesterday"), "since"),
        (("recall", "x", "--top-k", "5000"), "top_k"),
        (("list", "--label", "nothing"), "label"),
        (("list", "--state", "gone"), "states"),
        (("remember", ""), "content"),
        (("remember", "x", "--type", "rumour"), "type"),
        (("show", "nobody"), "name"),
        (("forget", "--yes"), "target"),
        (("export", "/no/such/folder/备份.jsonl"), "No such file or directory"),
        (("export", "/"), "is a folder"),
    ],
)
def test_what_is_wrong_is_named(run: Run, arguments: tuple[str, ...], field: str) -> None:
    assert field in run(*arguments, code=1)["error"]


def test_without_a_stack_it_says_what_to_do(tmp_path: Path) -> None:
    result = rearview(tmp_path, "list", "--json")
    assert result.returncode == 1
    assert "rearview up" in last_json(result)["error"]


def test_rescan_counts_and_shows_an_operation_again(stack: SupervisedStack, client: Client) -> None:
    client.remember("门口的 umbrella stand 是蓝色的。")
    counted = last_json(rearview(stack.folder.root, "rescan", "--dry-run", "--json"))
    assert counted["done"]
    assert counted["completed"] > 0
    assert "digest" not in counted, "nothing was rewritten"
    shown = rearview(stack.folder.root, "rescan", counted["operation"])
    assert counted["operation"] in shown.stdout
    missing = rearview(stack.folder.root, "rescan", "operations/0198c0de-0000-7000-8000-000000000000", "--json")
    assert missing.returncode != 0
