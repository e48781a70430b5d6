"""A third party's client, which has no .proto of ours and learns everything by reflection."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rearview.client import Client
from rearview.embedded.endpoints import Endpoints
from tests.support.client_steps import namespace_of
from tests.support.supervised_stack import SupervisedStack
from tests.support.wire import service_address

GRPCURL = str(Path(sys.executable).with_name("grpcurl"))
TIMEOUT_SECONDS = 60
OUR_SERVICES = {f"rearview.v1.{name}Service" for name in ("Memory", "Namespace", "Tenant", "Lifecycle")}

Grpcurl = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def grpcurl(endpoints: Endpoints) -> Grpcurl:
    """Runs grpcurl against the gateway; `request` is the JSON to send."""

    def run(*arguments: str, request: object = None, key: str | None = None) -> subprocess.CompletedProcess[str]:
        assert endpoints.gateway is not None
        command = [GRPCURL, "-plaintext"]
        if key is not None:
            command += ["-H", f"authorization: Bearer {key}"]
        if request is not None:
            command += ["-d", json.dumps(request, ensure_ascii=False)]
        return subprocess.run(
            [*command, endpoints.gateway, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )

    return run


def answer(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def test_the_services_are_listed_and_described(grpcurl: Grpcurl) -> None:
    listed = grpcurl("list")
    assert listed.returncode == 0, listed.stderr
    assert set(listed.stdout.split()) >= OUR_SERVICES | {"grpc.health.v1.Health"}
    for service in OUR_SERVICES:
        methods = grpcurl("list", service)
        assert methods.returncode == 0, methods.stderr
        assert methods.stdout.split()
    described = grpcurl("describe", "rearview.v1.RecallRequest")
    assert "group_by_memory" in described.stdout


def test_health(grpcurl: Grpcurl, stack: SupervisedStack) -> None:
    for service in ("", *OUR_SERVICES):
        status = answer(grpcurl("grpc.health.v1.Health/Check", request={"service": service}))
        assert status == {"status": "SERVING"}
    for name in ("writer", "retriever", "lifecycle"):
        checked = subprocess.run(
            [GRPCURL, "-plaintext", service_address(stack, name), "grpc.health.v1.Health/Check"],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
        assert answer(checked) == {"status": "SERVING"}


def test_append_recall_forget(grpcurl: Grpcurl, endpoints: Endpoints, client: Client) -> None:
    key, parent = endpoints.admin_key, f"namespaces/{namespace_of(client)}"
    text = "我对花生过敏。My order is A2026-0815."

    def call(method: str, request: object) -> dict[str, Any]:
        return answer(grpcurl(f"rearview.v1.MemoryService/{method}", request=request, key=key))

    session = f"{parent}/sessions/by-hand"
    appended = call("AppendEvents", {"parent": session, "events": [{"role": "ROLE_USER", "content": text}]})
    event = appended["events"][0]
    assert (event["content"], event["sequence"]) == (text, "1")
    question = {"parent": parent, "session": session, "query": "What am I allergic to?", "top_k": 3}
    found = call("Recall", question)  # of the session: what was just said needs no word in common with the question
    assert found["hits"][0]["events"] == [event["name"]]
    assert "花生" in found["context"]
    receipt = call("Forget", {"parent": parent, "session": session, "reason": "tried out"})
    assert (receipt["state"], receipt["event_count"]) == ("FORGET_STATE_TOMBSTONED", "1")
    assert "hits" not in call("Recall", {"parent": parent, "query": "花生 A2026-0815"})


def test_a_refusal_says_what_is_wrong(grpcurl: Grpcurl, endpoints: Endpoints) -> None:
    request = {"parent": "namespaces/default", "query": "x", "top_k": 500}
    result = grpcurl("rearview.v1.MemoryService/Recall", request=request, key=endpoints.admin_key)
    assert result.returncode != 0
    assert "Code: InvalidArgument" in result.stderr
    assert "top_k" in result.stderr
    without = grpcurl("rearview.v1.MemoryService/Recall", request=request)
    assert "Code: Unauthenticated" in without.stderr
    assert "CREDENTIAL_MISSING" in without.stderr
