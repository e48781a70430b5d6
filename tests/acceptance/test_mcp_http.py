"""Who may speak HTTP to the MCP adapter, and how a broken connection is taken up again."""

from __future__ import annotations

import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from rearview.client import Client
from rearview.domain.ids import new_id
from rearview.evaluation.ingest import fresh_namespace
from tests.acceptance.mcp_wire import JSON_AND_STREAM, PROTOCOL, WireSession, initialize, request, search
from tests.support.mcp_adapter import HttpAdapter
from tests.support.ports import free_port
from tests.support.supervised_stack import SupervisedStack

POLL_SECONDS = 0.2
PATIENCE_SECONDS = 30.0


def post(adapter: HttpAdapter, **headers: str) -> httpx.Response:
    return httpx.post(adapter.url, json=initialize(), headers={**JSON_AND_STREAM, **headers}, timeout=30)


def fresh_key(admin: Client, **options: datetime) -> tuple[str, str]:
    created = admin.create_api_key(f"agent-{new_id().hex[-8:]}", "write", expires_at=options.get("expires_at"))
    return created.api_key.name, created.secret


def until_refused(adapter: HttpAdapter, secret: str) -> httpx.Response:
    """Return the first answer that is not a success: what is known of a token is up to a second old."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (answer := post(adapter, Authorization=f"Bearer {secret}")).is_success:
        assert time.monotonic() < deadline
        time.sleep(POLL_SECONDS)
    return answer


def test_without_a_token_the_answer_is_401_and_says_how_to_get_one(mcp_adapter: HttpAdapter) -> None:
    answer = post(mcp_adapter)
    assert answer.status_code == 401
    metadata = f"{mcp_adapter.base}/.well-known/oauth-protected-resource/mcp"
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}"'
    assert answer.json()["rearview"]["reason"] == "CREDENTIAL_MISSING"
    assert "CreateApiKey" in answer.json()["rearview"]["how_to_refresh"]
    told = httpx.get(metadata, timeout=30).json()
    assert told["resource"] == mcp_adapter.url
    assert told["bearer_methods_supported"] == ["header"]


@pytest.mark.parametrize("token", ["nonsense", "rv_abcdefgh_" + "A" * 43, "naïve"])
def test_a_token_that_is_no_key_is_refused(mcp_adapter: HttpAdapter, token: str) -> None:
    answer = httpx.post(
        mcp_adapter.url,
        json=initialize(),
        headers=[(b"accept", JSON_AND_STREAM["Accept"].encode()), (b"authorization", f"Bearer {token}".encode())],
        timeout=30,
    )
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert answer.json()["rearview"]["reason"] == "CREDENTIAL_INVALID"


def test_an_expired_token_answers_401_with_how_to_refresh(mcp_adapter: HttpAdapter, admin: Client) -> None:
    _, secret = fresh_key(admin, expires_at=datetime.now(UTC) + timedelta(seconds=4))
    assert post(mcp_adapter, Authorization=f"Bearer {secret}").is_success
    answer = until_refused(mcp_adapter, secret)
    assert answer.status_code == 401
    assert "the token has expired" in answer.headers["www-authenticate"]
    assert answer.json()["rearview"]["reason"] == "CREDENTIAL_EXPIRED"
    assert "RotateApiKey" in answer.json()["error_description"]


def test_a_revoked_token_ends_an_open_session(mcp_adapter: HttpAdapter, admin: Client) -> None:
    name, secret = fresh_key(admin)
    with WireSession(mcp_adapter.url, secret) as session:
        assert session.post("tools/list", {}, number=1).is_success
        admin.revoke_api_key(name)
        assert until_refused(mcp_adapter, secret).status_code == 401
        assert session.post("tools/list", {}, number=2).status_code == 401


def test_a_session_belongs_to_the_token_that_opened_it(mcp_adapter: HttpAdapter, admin: Client) -> None:
    (_, mine), (_, others) = fresh_key(admin), fresh_key(admin)
    with WireSession(mcp_adapter.url, mine) as session:
        session.http.headers["Authorization"] = f"Bearer {others}"
        assert session.post("tools/list", {}, number=1).status_code == 404
        session.http.headers["Authorization"] = f"Bearer {mine}"
        assert session.post("tools/list", {}, number=1).is_success


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Origin": "https://evil.example"}, 403), ({"Host": "evil.example"}, 421), ({"Origin": "null"}, 403)],
)
def test_foreign_origins_and_hosts_are_refused(
    mcp_adapter: HttpAdapter, stack: SupervisedStack, headers: dict[str, str], status: int
) -> None:
    key = {"Authorization": f"Bearer {stack.endpoints().api_key}"}
    assert post(mcp_adapter, **key, **headers).status_code == status
    assert post(mcp_adapter, **key, Origin=mcp_adapter.base).is_success


def test_a_silent_stream_is_kept_alive(mcp_adapter: HttpAdapter, stack: SupervisedStack) -> None:
    with WireSession(mcp_adapter.url, stack.endpoints().admin_key or "") as session:
        assert session.first_line_of_silence().startswith(": ping")


def test_an_answer_that_was_missed_is_sent_again(
    mcp_adapter: HttpAdapter, stack: SupervisedStack, client: Client
) -> None:
    client.remember("我的订单号是 A2026-0815。")
    with WireSession(mcp_adapter.url, stack.endpoints().admin_key or "", client.namespace) as session:
        first = session.post_and_leave("tools/call", search("订单号"), number=7)
        assert first.data is None
        resumed = session.resume(first.id)
    assert resumed.data["id"] == 7
    assert "A2026-0815" in resumed.data["result"]["content"][0]["text"]


def test_sessions_with_the_same_request_ids_are_not_sent_each_others_answers(
    mcp_adapter: HttpAdapter, stack: SupervisedStack, admin: Client
) -> None:
    with ExitStack() as opened:
        missed = {}
        for mark in ("A-1111", "B-2222"):
            namespace = fresh_namespace(admin, "resume")
            admin.remember(f"The order is {mark}.", namespace=namespace)
            session = opened.enter_context(WireSession(mcp_adapter.url, stack.endpoints().admin_key or "", namespace))
            missed[mark] = (session, session.post_and_leave("tools/call", search("order"), number=1))
        for mark, (session, first) in missed.items():
            assert session.resume(first.id).data["id"] == 1, mark
        # The first session's answer came before the second's: in a store of both it would be followed by that.
        session, first = missed["A-1111"]
        answers = [event.data["result"]["content"][0]["text"] for event in session.resume_until_quiet(first.id)]
        assert len(answers) == 1
        assert "A-1111" in answers[0]


def test_a_session_that_is_unknown_answers_404_so_that_the_client_opens_another(
    mcp_adapter: HttpAdapter, stack: SupervisedStack
) -> None:
    headers = {
        "Authorization": f"Bearer {stack.endpoints().api_key}",
        "Mcp-Session-Id": "0" * 32,
        "Mcp-Protocol-Version": PROTOCOL,
        **JSON_AND_STREAM,
    }
    answer = httpx.post(mcp_adapter.url, json=request("tools/list", {}, 1), headers=headers, timeout=30)
    assert answer.status_code == 404


def test_without_a_gateway_the_answer_is_503_soon(stack: SupervisedStack) -> None:
    adapter = HttpAdapter(
        stack.folder.root,
        REARVIEW_GATEWAY=f"127.0.0.1:{free_port()}",
        REARVIEW_MCP_CALL_TIMEOUT_SECONDS="1",
    ).wait()
    try:
        answer = post(adapter, Authorization=f"Bearer {stack.endpoints().api_key}")
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert answer.json()["rearview"]["reason"] in {"DEPENDENCY_UNAVAILABLE", "DEADLINE_EXCEEDED"}
    finally:
        assert adapter.stop() == 0


def test_logs_hold_no_content_and_no_keys(mcp_adapter: HttpAdapter, stack: SupervisedStack, client: Client) -> None:
    key = stack.endpoints().admin_key or ""
    secret = "the heron wears galoshes"
    arguments = {"content": secret, "timestamp": secret}
    with WireSession(mcp_adapter.url, key, client.namespace) as session:
        for given in (arguments, {"content": secret}):
            session.post("tools/call", {"name": "memory_write", "arguments": given}, number=1)
    assert "memory_write" in mcp_adapter.log
    assert "heron" not in mcp_adapter.log
    assert key not in mcp_adapter.log
