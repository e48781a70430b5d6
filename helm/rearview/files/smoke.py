"""What `helm test` runs: health of the public API; with a tenant's key, a turn is appended, found and forgotten too.

Reads GATEWAY (host:port) and API_KEY from the environment; given OPERATOR_KEY instead, it makes a tenant of its own.
Ends with 1 and says why where something is not as it should be.
"""

import os
import sys
import time
import uuid
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from rearview.client import Client

PATIENCE_SECONDS = 60.0
TURN = "我对花生过敏。The door code of the smoke test is Q{number}."


def check_health(address: str) -> None:
    """End the process unless the public API serves; raises grpc.RpcError where nothing answers."""
    with grpc.insecure_channel(address) as channel:
        request = health_pb2.HealthCheckRequest(service="rearview.v1.MemoryService")
        health: Any = health_pb2_grpc.HealthStub(channel)  # its type hints know no methods
        answer = health.Check(request, timeout=PATIENCE_SECONDS, wait_for_ready=True)
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        sys.exit(f"the gateway at {address} is not serving")


def new_tenant_key(address: str, operator_key: str, tenant: str) -> str:
    """Return the admin key of a new tenant."""
    with Client.connect(address, operator_key) as operator:
        return operator.create_tenant(tenant).secret


def found(client: Client, session: str, code: str) -> bool:
    """Tell whether a recall returns the turn."""
    answer = client.recall(f"What is the door code {code}?", session=session, no_cache=True)
    return any(code in highlight.text for hit in answer.hits for highlight in hit.highlights)


def wait_until(found_wanted: bool, client: Client, session: str, code: str) -> None:
    """End the process unless the turn is found, or not, within the time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while found(client, session, code) is not found_wanted:
        if time.monotonic() > deadline:
            sys.exit(f"after {PATIENCE_SECONDS:.0f} s the turn is {'not ' if found_wanted else 'still '}found")
        time.sleep(0.5)


def remember_and_forget(address: str, key: str) -> None:
    """Append a turn, find it, forget it, and see that it is not found any more."""
    name = f"smoke-{uuid.uuid4().hex[:12]}"
    code = f"Q{uuid.uuid4().int % 10**6:06}"
    with Client.connect(address, key, namespace=name) as client:
        client.create_namespace(name)
        with client.session(name) as session:
            session.user(TURN.format(number=code[1:]))
            wait_until(True, client, name, code)
        client.forget(session=name, skip_grace_period=True)
        wait_until(False, client, name, code)
        client.delete_namespace(name, force=True)


def main() -> None:
    """Run what the environment allows."""
    address = os.environ["GATEWAY"]
    key = os.environ.get("API_KEY", "")
    check_health(address)
    sys.stdout.write("health: serving\n")
    if not key and os.environ.get("OPERATOR_KEY"):
        key = new_tenant_key(address, os.environ["OPERATOR_KEY"], f"smoke-{uuid.uuid4().hex[:8]}")
    if key:
        remember_and_forget(address, key)
        sys.stdout.write("append, recall, forget: done\n")


if __name__ == "__main__":
    main()
