"""Installing, upgrading and rolling back: which migrations run when, and what stays the same between versions."""

import re
from typing import Any

import pytest

from tests.helm.tools import manifests, values_set

UPGRADE = "--is-upgrade"


def migrations(values: str, *options: str) -> dict[str, tuple[str, str]]:
    """Phase and hooks of each migration, by name; no hooks means that it is part of the release."""
    found: dict[str, tuple[str, str]] = {}
    documents: list[dict[str, Any]] = manifests(values_set(values), *options)
    for document in documents:
        if document["kind"] == "Job" and "-migrate-" in document["metadata"]["name"]:
            (container,) = document["spec"]["template"]["spec"]["containers"]
            hooks = document["metadata"].get("annotations", {}).get("helm.sh/hook", "")
            found[document["metadata"]["name"].partition("-migrate-")[2]] = (container["args"][1], hooks)
    return found


def test_a_first_installation_migrates_at_once_beside_a_bundled_database_and_before_with_another() -> None:
    assert migrations("kind") == {"0-1-0": ("all", "")}
    assert migrations("external") == {"pre": ("all", "pre-install,pre-upgrade")}


def test_an_upgrade_runs_what_suits_the_old_code_before_and_the_rest_only_when_told_so() -> None:
    assert migrations("kind", UPGRADE) == {"pre": ("pre", "pre-install,pre-upgrade")}
    told = migrations("kind", UPGRADE, "--set", "migrations.post=true")
    assert told == {"pre": ("pre", "pre-install,pre-upgrade"), "post": ("post", "post-upgrade")}


def test_migrations_do_not_run_on_rollback() -> None:
    assert all("rollback" not in hooks for _, hooks in migrations("ha", UPGRADE).values())


@pytest.mark.parametrize("tag", ["1.2.0_rc.", "v" * 100])
def test_jobs_have_names_that_kubernetes_takes_whatever_the_tag(tag: str) -> None:
    fullname = ("--set", f"fullnameOverride={'r' * 42}")
    documents: list[dict[str, Any]] = manifests(values_set("kind"), "--set-string", f"image.tag={tag}", *fullname)
    names = [part["metadata"]["name"] for part in documents if part["kind"] == "Job"]
    assert len(names) == 2
    assert all(re.fullmatch("[a-z0-9][a-z0-9-]{0,61}[a-z0-9]", name) for name in names), names


def test_what_cannot_be_changed_does_not_change_with_the_version() -> None:
    def fixed(*options: str) -> dict[str, Any]:
        documents: list[dict[str, Any]] = manifests(values_set("kind"), *options)
        return {
            part["metadata"]["name"]: part["spec"]["selector"] for part in documents if part["kind"] == "Deployment"
        }

    assert fixed() == fixed(UPGRADE, "--set", "image.tag=9.9.9")


def test_the_owners_credentials_are_there_before_the_migrations() -> None:
    documents: list[dict[str, Any]] = manifests(values_set("external"))
    (secret,) = [
        part for part in documents if part["kind"] == "Secret" and part["metadata"]["name"].endswith("-migrations")
    ]
    assert secret["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert int(secret["metadata"]["annotations"]["helm.sh/hook-weight"]) < 0


def test_a_change_of_settings_restarts_the_pods_that_read_it() -> None:
    def checksums(*options: str) -> dict[str, str]:
        documents: list[dict[str, Any]] = manifests(values_set("no-mcp"), *options)
        return {
            part["metadata"]["name"]: part["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
            for part in documents
            if part["kind"] == "Deployment" and "annotations" in part["spec"]["template"]["metadata"]
        }

    before, after = checksums(), checksums("--set", "retriever.settings.rerankDepth=7")
    assert {name for name in before if before[name] != after[name]} == {"rv-rearview-retriever"}
