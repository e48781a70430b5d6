"""Restricted pods, no tokens, secrets where they belong, and only the edges of the architecture picture."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helm.tools import VALUE_SETS, manifests, run, tool, values_set

# The architecture picture: who may call whom at most. Who does follows from what each is told.
PICTURE = {
    *(("gateway", to) for to in ("writer", "retriever", "lifecycle", "postgresql", "redis")),
    *(
        (service, store)
        for service in ("writer", "retriever", "lifecycle")
        for store in ("postgresql", "redis", "minio")
    ),
    *(("migrate", "postgresql"), ("bucket", "minio")),
}
TOLD = {
    "REARVIEW_DATABASE_URL": "postgresql",
    "REARVIEW_DATABASE_OWNER_URL": "postgresql",
    "REARVIEW_REDIS_URL": "redis",
    "REARVIEW_S3_ENDPOINT": "minio",
    "REARVIEW_WRITER_ADDRESS": "writer",
    "REARVIEW_RETRIEVER_ADDRESS": "retriever",
    "REARVIEW_LIFECYCLE_ADDRESS": "lifecycle",
    "ENDPOINT": "minio",
}
# Each exception is explained in docs/kubernetes.md.
EXCEPTIONS = ("CKV_K8S_8", "CKV_K8S_9", "CKV_K8S_15", "CKV_K8S_35", "CKV_K8S_40", "CKV_K8S_43")


def pods(values: Path, *options: str) -> list[tuple[str, dict[str, Any]]]:
    """Every pod of a release, hooks and tests too."""
    found: list[tuple[str, dict[str, Any]]] = []
    documents: list[dict[str, Any]] = manifests(values, *options)
    for document in documents:
        if document["kind"] in ("Deployment", "Job"):
            found.append((document["metadata"]["name"], document["spec"]["template"]["spec"]))
        elif document["kind"] == "Pod":
            found.append((document["metadata"]["name"], document["spec"]))
    return found


@pytest.mark.parametrize("values", VALUE_SETS, ids=lambda path: path.stem)
def test_pods_are_restricted(values: Path) -> None:
    found = pods(values)
    assert len(found) >= 6
    for name, pod in found:
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["enableServiceLinks"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod), name
        assert not [volume for volume in pod["volumes"] if "hostPath" in volume], name
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert {"cpu", "memory"} <= set(container["resources"]["limits"]) & set(
                container["resources"]["requests"]
            ), name


@pytest.mark.parametrize("values", VALUE_SETS, ids=lambda path: path.stem)
def test_service_accounts_have_no_token(values: Path) -> None:
    accounts = [part for part in manifests(values) if part["kind"] == "ServiceAccount"]
    assert accounts
    assert all(part["automountServiceAccountToken"] is False for part in accounts)


def component(selector: dict[str, Any]) -> str:
    return str(selector["matchLabels"]["app.kubernetes.io/component"])


def policies(values: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = manifests(values_set(values))
    return [part for part in found if part["kind"] == "NetworkPolicy"]


def told() -> set[tuple[str, str]]:
    """Whom each service is told about, by its variables."""
    documents: list[dict[str, Any]] = manifests(values_set("plain"))
    maps = {part["metadata"]["name"]: set(part["data"]) for part in documents if part["kind"] == "ConfigMap"}
    found = set()
    for document in documents:
        if document["kind"] in ("Deployment", "Job"):
            container = document["spec"]["template"]["spec"]["containers"][0]
            names = {entry["name"] for entry in container.get("env", ())}
            for source in container.get("envFrom", ()):
                names |= maps[source["configMapRef"]["name"]]
            found |= {(container["name"], TOLD[name]) for name in names & set(TOLD)}
    return found


def test_an_allow_stands_for_each_edge_of_the_architecture_picture() -> None:
    leaving, entering = set(), set()
    for policy in policies("plain"):
        spec = policy["spec"]
        for rule in spec.get("egress", ()):
            leaving |= {
                (component(spec["podSelector"]), component(peer["podSelector"]))
                for peer in rule["to"]
                if "podSelector" in peer
            }
        for rule in spec.get("ingress", ()):
            entering |= {
                (component(peer["podSelector"]), component(spec["podSelector"]))
                for peer in rule.get("from", ())
                if "podSelector" in peer
            }
    assert entering == told() <= PICTURE
    assert leaving == entering | {("test", "gateway")}


@pytest.mark.parametrize("values", [path.stem for path in VALUE_SETS if path.stem != "minimal"])
def test_everything_is_denied_first(values: str) -> None:
    (deny,) = [part["spec"] for part in policies(values) if part["metadata"]["name"].endswith("-deny")]
    assert deny["policyTypes"] == ["Ingress", "Egress"]
    assert set(deny) == {"podSelector", "policyTypes"}
    documents: list[dict[str, Any]] = manifests(values_set(values))
    for document in documents:
        if document["kind"] in ("Deployment", "Job"):
            labels = document["spec"]["template"]["metadata"]["labels"]
            assert set(deny["podSelector"]["matchLabels"].items()) <= set(labels.items())


def test_nothing_leaves_where_everything_is_bundled() -> None:
    assert not [part for part in policies("plain") if "ipBlock" in yaml.safe_dump(part)]
    assert [part for part in policies("external") if "10.20.0.0/16" in yaml.safe_dump(part)]


@pytest.mark.parametrize("emptied", ["externalCidrs", "externalPorts"])
def test_an_empty_list_of_what_is_outside_opens_nothing(emptied: str) -> None:
    """In a policy an empty list would mean everything."""
    option = ("--set-json", f"networkPolicy.{emptied}=[]")
    documents: list[dict[str, Any]] = manifests(values_set("external"), *option)
    leaving = [rule for part in documents if part["kind"] == "NetworkPolicy" for rule in part["spec"].get("egress", ())]
    assert leaving
    assert all(rule["to"] and rule["ports"] for rule in leaving)


@pytest.mark.parametrize("values", VALUE_SETS, ids=lambda path: path.stem)
def test_every_secret_of_the_release_that_a_pod_names_is_made(values: Path) -> None:
    # A Secret that holds everything, and one value beside it.
    for options in ((), ("--set", "secrets.existingSecret=mine,secrets.llmApiKey.value=token")):
        documents: list[dict[str, Any]] = manifests(values, *options)
        made = {part["metadata"]["name"]: set(part["data"]) for part in documents if part["kind"] == "Secret"}
        named = {
            (entry["valueFrom"]["secretKeyRef"]["name"], entry["valueFrom"]["secretKeyRef"]["key"])
            for _, pod in pods(values, *options)
            for container in pod["containers"]
            for entry in container.get("env", ())
            if "secretKeyRef" in entry.get("valueFrom", ())
        }
        own = {(name, key) for name, key in named if name.startswith("rv-rearview-")}
        assert own <= {(name, key) for name, keys in made.items() for key in keys}


def test_no_secret_stands_outside_of_a_secret() -> None:
    documents: list[dict[str, Any]] = manifests(values_set("external"))
    for document in documents:
        if document["kind"] != "Secret":
            assert "change-me" not in yaml.safe_dump(document), document["metadata"]["name"]


@pytest.mark.parametrize("values", ["ha", "kind"])
def test_hardening_rules_hold(values: str, tmp_path: Path) -> None:
    path = tmp_path / f"{values}.yaml"
    path.write_text(yaml.safe_dump_all(manifests(values_set(values))), "utf-8")
    skipped = ",".join(EXCEPTIONS)
    ended = run(
        tool("checkov"), "-f", path, "--framework", "kubernetes", "--compact", "--quiet", "--skip-check", skipped
    )
    assert ended.returncode == 0, ended.stdout
