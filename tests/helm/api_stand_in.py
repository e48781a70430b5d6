"""As much of a Kubernetes API as helm needs to install, upgrade, roll back and uninstall: a store of objects.

What is applied is kept as it is, Jobs end at once, and what a cluster does not let change is refused. There are no
controllers, no defaults and no admission: what pods would do does not show.
"""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

Object = dict[str, Any]

RESOURCES = {
    "v1": {
        "Namespace": "namespaces",
        "Pod": "pods",
        "Secret": "secrets",
        "ConfigMap": "configmaps",
        "Service": "services",
        "ServiceAccount": "serviceaccounts",
        "PersistentVolumeClaim": "persistentvolumeclaims",
    },
    "apps/v1": {"Deployment": "deployments", "ReplicaSet": "replicasets"},
    "batch/v1": {"Job": "jobs"},
    "networking.k8s.io/v1": {"NetworkPolicy": "networkpolicies", "Ingress": "ingresses"},
    "policy/v1": {"PodDisruptionBudget": "poddisruptionbudgets"},
    "autoscaling/v2": {"HorizontalPodAutoscaler": "horizontalpodautoscalers"},
}
_PROTOBUF = b"k8s\x00"
VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
DONE = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}


class Cluster:
    """The objects, by their paths, and what was changed in which order.

    Attributes:
        objects: by the path of the API.
        changes: method, kind and name of each change, Secrets of helm's own left out.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.changes: list[tuple[str, str, str]] = []
        self.lock = threading.RLock()
        self._version = 0

    def named(self, kind: str) -> dict[str, Object]:
        """Return the objects of a kind by name, Secrets of helm's own left out."""
        with self.lock:
            found = [each for each in self.objects.values() if each["kind"] == kind]
        return {each["metadata"]["name"]: each for each in found if not str(each.get("type")).startswith("helm.sh/")}

    def put(self, method: str, path: str, given: Object) -> Object:
        """Keep an object. Raises: ValueError: it changes what cannot be changed."""
        with self.lock:
            before = self.objects.get(path)
            if before is not None and _fixed(before) != _fixed(given):
                raise ValueError(f"{given['kind']} {given['metadata']['name']}: field is immutable")
            self._version += 1
            given["metadata"].setdefault("namespace", "rearview")
            given["metadata"] |= {"uid": path, "resourceVersion": str(self._version), "generation": 1}
            if given["kind"] == "Job":
                given["status"] = DONE
            self.objects[path] = given
            self._note(method, given)
            return given

    def remove(self, path: str) -> bool:
        """Forget an object, and return whether it was there."""
        with self.lock:
            found = self.objects.pop(path, None)
            if found is not None:
                self._note("DELETE", found)
            return found is not None

    def _note(self, method: str, which: Object) -> None:
        if not str(which.get("type")).startswith("helm.sh/"):
            self.changes.append((method, which["kind"], which["metadata"]["name"]))


def _fixed(which: Object) -> Any:
    """What a cluster does not let change."""
    spec = which.get("spec", {})
    part = {"Job": "template", "Deployment": "selector", "Service": "clusterIP"}.get(which["kind"])
    return json.dumps(spec.get(part) if part else None, sort_keys=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cluster: Cluster

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Say nothing."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        discovered = _discovery(url.path)
        if discovered is not None:
            self._answer(200, discovered)
        elif "watch" in query:
            self._watch(url.path)
        elif _kind(url.path) is not None:
            version, kind = _kind(url.path) or ("", "")
            found = self._listed(url.path, query.get("labelSelector", ""))
            self._answer(
                200,
                {"apiVersion": version, "kind": f"{kind}List", "metadata": {"resourceVersion": "1"}, "items": found},
            )
        elif url.path in self.cluster.objects:
            self._answer(200, self.cluster.objects[url.path])
        else:
            self._refuse(404, "NotFound")

    def do_POST(self) -> None:
        given = self._given()
        path = f"{urlsplit(self.path).path}/{given['metadata']['name']}"
        if path in self.cluster.objects:
            self._refuse(409, "AlreadyExists")
        else:
            self._put("POST", path, given)

    def do_PUT(self) -> None:
        self._put("PUT", urlsplit(self.path).path, self._given())

    def do_PATCH(self) -> None:
        given = self._given()
        if self.headers["Content-Type"] == "application/apply-patch+yaml":
            self._put("APPLY", urlsplit(self.path).path, given)
        else:
            self._refuse(415, "UnsupportedMediaType")

    def do_DELETE(self) -> None:
        self._body()
        if self.cluster.remove(urlsplit(self.path).path):
            self._answer(200, {"apiVersion": "v1", "kind": "Status", "status": "Success"})
        else:
            self._refuse(404, "NotFound")

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _given(self) -> Object:
        body = self._body()
        if body.startswith(_PROTOBUF):
            return _secret(body)
        found: Object = yaml.safe_load(body) or {}
        return found

    def _put(self, method: str, path: str, given: Object) -> None:
        try:
            self._answer(200, self.cluster.put(method, path, given))
        except ValueError as error:
            self._refuse(422, "Invalid", str(error))

    def _listed(self, path: str, selector: str) -> list[Object]:
        wanted = dict(part.split("=", 1) for part in selector.replace("==", "=").split(",") if part)
        with self.cluster.lock:
            found = [each for place, each in self.cluster.objects.items() if place.rpartition("/")[0] == path]
        return [each for each in found if wanted.items() <= each["metadata"].get("labels", {}).items()]

    def _watch(self, path: str) -> None:
        """Tell of every object as it is now, and of what goes, until the caller has heard enough."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        told: dict[str, Object] = {}
        version, kind = _kind(path) or ("", "")
        # The caller waits for the word that it has heard of all that is there.
        ended = {"annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": "1"}
        bookmark: Object | None = {"apiVersion": version, "kind": kind, "metadata": ended}
        try:
            while True:
                now = {each["metadata"]["name"]: each for each in self._listed(path, "")}
                for name, each in now.items():
                    if told.get(name) != each:
                        self._tell("MODIFIED" if name in told else "ADDED", each)
                for name in set(told) - set(now):
                    self._tell("DELETED", told[name])
                if bookmark is not None:
                    self._tell("BOOKMARK", bookmark)
                    bookmark = None
                told = now
                time.sleep(0.1)
        except OSError:
            self.close_connection = True

    def _tell(self, what: str, which: Object) -> None:
        self.wfile.write(json.dumps({"type": what, "object": which}).encode() + b"\n")
        self.wfile.flush()

    def _refuse(self, code: int, reason: str, message: str = "") -> None:
        status = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": reason, "code": code}
        self._answer(code, {**status, "message": message or reason})

    def _answer(self, code: int, content: Object) -> None:
        body = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _discovery(path: str) -> Object | None:
    if path == "/version":
        return {"major": "1", "minor": "37", "gitVersion": "v1.37.0"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        groups = []
        for version in RESOURCES:
            if "/" in version:
                which = {"groupVersion": version, "version": version.partition("/")[2]}
                groups.append({"name": version.partition("/")[0], "versions": [which], "preferredVersion": which})
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    if path == "/openapi/v3":
        return {
            "paths": {
                _root(version)[1:]: {"serverRelativeURL": f"/openapi/v3{_root(version)}"} for version in RESOURCES
            }
        }
    if path.startswith("/openapi/v3/"):
        return _schema(path.removeprefix("/openapi/v3/").partition("/")[2])
    version = path.removeprefix("/apis/") if path.startswith("/apis/") else path.removeprefix("/api/")
    if version not in RESOURCES:
        return None
    resources = [
        {"name": plural, "singularName": kind.lower(), "namespaced": kind != "Namespace", "kind": kind, "verbs": VERBS}
        for kind, plural in RESOURCES[version].items()
    ]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}


def _root(version: str) -> str:
    return f"/api/{version}" if version == "v1" else f"/apis/{version}"


def _schema(version: str) -> Object:
    """That the server validates fields itself, which is all that helm wants to know."""
    group, _, name = version.rpartition("/")
    paths = {}
    for kind, plural in RESOURCES[version].items():
        patch = {
            "x-kubernetes-group-version-kind": {"group": group, "version": name, "kind": kind},
            "parameters": [{"name": "fieldValidation", "in": "query"}],
            "responses": {},
        }
        paths[f"{_root(version)}/{plural}/{{name}}"] = {"patch": patch}
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.37.0"}, "paths": paths}


def _kind(path: str) -> tuple[str, str] | None:
    """Version and kind of what a path lists."""
    for version, kinds in RESOURCES.items():
        for kind, plural in kinds.items():
            if path.startswith(f"{_root(version)}/") and path.rpartition("/")[2] == plural:
                return version, kind
    return None


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of each field of a Protocol Buffers message that has content; numbers are left out."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            value |= (message[at] & 0x7F) << shift
            at += 1
            if message[at - 1] < 0x80:
                return value
            shift += 7

    while at < len(message):
        key = varint()
        size = varint()  # the number itself, where it is one
        if key & 7 == 2:
            yield key >> 3, message[at : at + size]
            at += size


def _secret(body: bytes) -> Object:
    """A Secret as helm's store of releases sends it: in Protocol Buffers, in an envelope."""
    (raw,) = [content for number, content in _fields(body.removeprefix(_PROTOBUF)) if number == 2]
    parts = list(_fields(raw))
    metadata = [part for number, content in parts if number == 1 for part in _fields(content)]

    def entries(which: list[tuple[int, bytes]], wanted: int) -> dict[str, bytes]:
        found = [dict(_fields(content)) for number, content in which if number == wanted]
        return {each[1].decode(): each.get(2, b"") for each in found}

    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": next(content.decode() for number, content in metadata if number == 1),
            "labels": {key: value.decode() for key, value in entries(metadata, 11).items()},
        },
        "type": next(content.decode() for number, content in parts if number == 3),
        "data": {key: base64.b64encode(value).decode() for key, value in entries(parts, 2).items()},
    }


@contextmanager
def api_stand_in(folder: Path) -> Iterator[tuple[Cluster, Path]]:
    """Yield the objects and a kubeconfig that leads to them."""
    cluster = Cluster()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"cluster": cluster}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = folder / "kubeconfig"
    here = {"name": "here", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
    context = {"name": "here", "context": {"cluster": "here", "user": "me", "namespace": "rearview"}}
    content = {
        "clusters": [here],
        "contexts": [context],
        "users": [{"name": "me", "user": {}}],
        "current-context": "here",
    }
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **content}), "utf-8")
    try:
        yield cluster, path
    finally:
        server.shutdown()
        server.server_close()
