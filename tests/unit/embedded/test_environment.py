"""What each service is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rearview.embedded.environment import ServicePorts, StackAddresses, service_environment
from rearview.embedded.secrets import StackSecrets

PORTS = {
    name: ServicePorts(7000 + number, 8000 + number)
    for number, name in enumerate(("gateway", "writer", "worker", "retriever", "lifecycle"))
}
ADDRESSES = StackAddresses(postgres_port=1, valkey_port=2, s3_port=3, secrets=StackSecrets.generate())


def told(service: str) -> dict[str, str]:
    return service_environment(service, PORTS, ADDRESSES, models=Path("models"), log_level="INFO")


@pytest.mark.parametrize("service", ["writer", "worker", "retriever", "lifecycle"])
def test_only_the_gateway_learns_the_operators_credentials(service: str) -> None:
    values = told(service)
    assert told("gateway")["REARVIEW_OPERATOR_KEY"] == ADDRESSES.secrets.operator_key
    assert "REARVIEW_OPERATOR_DATABASE_URL" in told("gateway")
    assert not {"REARVIEW_OPERATOR_KEY", "REARVIEW_OPERATOR_DATABASE_URL"} & values.keys()
    assert ADDRESSES.secrets.postgres_operator_password not in " ".join(values.values())


@pytest.mark.parametrize("service", ["gateway", "writer", "worker", "retriever"])
def test_only_the_lifecycle_service_learns_the_key_of_the_audit(service: str) -> None:
    assert told("lifecycle")["REARVIEW_AUDIT_KEY"] == ADDRESSES.secrets.audit_key
    assert ADDRESSES.secrets.audit_key not in " ".join(told(service).values())


@pytest.mark.parametrize("service", list(PORTS))
def test_no_service_learns_the_owners_or_the_superusers_password(service: str) -> None:
    text = " ".join(told(service).values())
    assert ADDRESSES.secrets.postgres_owner_password not in text
    assert ADDRESSES.secrets.postgres_superuser_password not in text


def test_addresses_are_where_the_others_listen() -> None:
    gateway = told("gateway")
    for service in ("writer", "retriever", "lifecycle"):
        assert told(service)["REARVIEW_LISTEN"] == gateway[f"REARVIEW_{service.upper()}_ADDRESS"]
        assert told(service)["REARVIEW_METRICS_PORT"] == str(PORTS[service].metrics)


def test_calls_and_jobs_of_the_writer_are_apart() -> None:
    roles = {name: told(name).get("REARVIEW_WRITER_ROLE") for name in PORTS}
    assert roles == {"gateway": None, "writer": "serve", "worker": "work", "retriever": None, "lifecycle": None}
