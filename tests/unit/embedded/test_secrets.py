"""Secrets: made once, private, never shown."""

from __future__ import annotations

import json
import stat
from dataclasses import asdict
from pathlib import Path

import pytest

from rearview.embedded.environment import StackAddresses
from rearview.embedded.errors import SecretsInvalid
from rearview.embedded.secrets import SecretsFile, StackSecrets, TenantKeys


def test_secrets_are_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    made = SecretsFile(path).load_or_create()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SecretsFile(path).load_or_create() == made
    assert [entry.name for entry in tmp_path.iterdir()] == ["secrets.json"]


def test_every_secret_differs_and_is_long_enough() -> None:
    values = list(asdict(StackSecrets.generate()).values()) + list(asdict(StackSecrets.generate()).values())
    assert len(set(values)) == len(values)
    assert all(len(value) >= 20 for value in values)


def test_a_file_opened_to_others_is_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    SecretsFile(path).load_or_create()
    path.chmod(0o644)
    SecretsFile(path).load_or_create()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_secret_shows_in_a_representation() -> None:
    secrets = StackSecrets.generate()
    keys = TenantKeys("default", "admin-secret", "write-secret")
    shown = f"{secrets!r} {StackAddresses(1, 2, 3, secrets)!r} {keys!r}"
    assert not [value for value in (*asdict(secrets).values(), "admin-secret", "write-secret") if value in shown]


@pytest.mark.parametrize("content", ["", "{", "[]", "null"])
def test_a_damaged_file_is_not_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "secrets.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SecretsInvalid, match="backup"):
        SecretsFile(path).load_or_create()
    assert path.read_text(encoding="utf-8") == content


def test_a_missing_secret_is_named(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    SecretsFile(path).load_or_create()
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["valkey_password"]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(SecretsInvalid, match="lacks valkey_password"):
        SecretsFile(path).load()


def test_tenant_keys_are_kept_beside_the_stacks_secrets(tmp_path: Path) -> None:
    file = SecretsFile(tmp_path / "secrets.json")
    secrets = file.load_or_create()
    assert file.tenant_keys() is None
    keys = TenantKeys("default", "admin", "write")
    file.keep_tenant_keys(keys)
    assert file.tenant_keys() == keys
    assert file.load() == secrets


def test_a_file_of_an_earlier_version_gets_the_key_of_the_audit_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    made = SecretsFile(path).load_or_create()
    SecretsFile(path).keep_tenant_keys(TenantKeys("default", "admin-secret", "write-secret"))
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["audit_key"]
    path.write_text(json.dumps(content), encoding="utf-8")
    found = SecretsFile(path).load_or_create()
    assert len(found.audit_key) >= 20
    assert {**asdict(found), "audit_key": ""} == {**asdict(made), "audit_key": ""}
    assert SecretsFile(path).load_or_create() == found
    assert SecretsFile(path).tenant_keys() == TenantKeys("default", "admin-secret", "write-secret")
