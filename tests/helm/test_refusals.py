"""Wrong values are refused, and the message says where and why."""

import json
from typing import Any

import pytest

from tests.helm.tools import CHART, run, tool, values_set

REFUSED = [
    pytest.param({"gatway": {}}, "additional properties 'gatway' not allowed", id="unknown-key"),
    pytest.param({"gateway": {"replica": 3}}, "additional properties 'replica' not allowed", id="unknown-nested-key"),
    pytest.param({"gateway": {"replicas": 0}}, "/gateway/replicas': minimum: got 0, want 1", id="no-replica"),
    pytest.param(
        {"gateway": {"replicas": "three"}}, "/gateway/replicas': got string, want integer", id="text-replicas"
    ),
    pytest.param({"settings": {"logLevel": "loud"}}, "/settings/logLevel': value must be one of", id="log-level"),
    pytest.param(
        {"settings": {"embedder": "magic:ball"}}, "/settings/embedder': 'magic:ball' does not match", id="embedder"
    ),
    pytest.param(
        {"retriever": {"settings": {"rerankDepth": 101}}},
        "/retriever/settings/rerankDepth': maximum: got 101, want 100",
        id="rerank-depth",
    ),
    pytest.param(
        {"gateway": {"settings": {"redisSeconds": 1}}},
        "/gateway/settings': additional properties 'redisSeconds' not allowed",
        id="setting-of-another-service",
    ),
    pytest.param({"image": {"tag": "latest"}}, "/image/tag': 'not' failed", id="tag-latest"),
    pytest.param({"image": {"pullPolicy": "Sometimes"}}, "/image/pullPolicy': value must be one of", id="pull-policy"),
    pytest.param(
        {"writer": {"image": {"repository": "writer", "digest": "sha256:abc"}}},
        "/writer/image/digest': 'sha256:abc' does not match pattern",
        id="digest",
    ),
    pytest.param(
        {"lifecycle": {"resources": {"limits": {"memory": "1 GB"}}}},
        "/lifecycle/resources/limits/memory': '1 GB' does not match pattern",
        id="memory",
    ),
    pytest.param(
        {"secrets": {"databaseUrl": {"value": "mysql://db/rearview"}}},
        "/secrets/databaseUrl/value': 'mysql://db/rearview' does not match pattern",
        id="database-url",
    ),
    pytest.param(
        {"secrets": {"operatorKey": {"value": "letmein"}}},
        "/secrets/operatorKey/value': 'letmein' does not",
        id="operator-key",
    ),
    pytest.param(
        {"secrets": {"internalKey": {"value": "short"}}}, "/secrets/internalKey/value': 'short' does", id="short-key"
    ),
    pytest.param(
        {"secrets": {"redisUrl": {"value": "redis://r:6379", "existingSecret": "r"}}},
        "/secrets/redisUrl': 'not' failed",
        id="secret-given-twice",
    ),
    pytest.param({"postgresql": {"bundled": False}}, "/secrets/databaseUrl", id="no-database"),
    pytest.param({"minio": {"bundled": False}}, "s3.endpoint must name an S3 store", id="no-object-store"),
    pytest.param({"redis": {"bundled": False}}, "/secrets/redisUrl", id="no-redis"),
    pytest.param({"secrets": {"generate": False}}, "/secrets/internalKey", id="no-keys"),
    pytest.param({"ingress": {"enabled": True}}, "/ingress/host': minLength: got 0, want 1", id="ingress-without-host"),
    pytest.param({"gatewayApi": {"enabled": True, "host": "a.example"}}, "/gatewayApi", id="route-without-parent"),
    pytest.param({"tls": {"mode": "selfSigned"}}, "/tls/mode': value must be one of", id="tls-mode"),
    pytest.param({"tls": {"mode": "existing"}}, "/tls/existingSecret': minLength", id="tls-without-secret"),
    pytest.param({"tls": {"mode": "certManager"}}, "/tls/issuerRef/name': minLength", id="tls-without-issuer"),
    pytest.param({"internalTls": {"mode": "mesh"}}, "/internalTls/mode': value must be one of", id="internal-tls-mode"),
    pytest.param(
        {"internalTls": {"mode": "existing"}}, "/internalTls/existingSecret': minLength", id="internal-secret"
    ),
    pytest.param({"internalTls": {"mode": "certManager"}}, "/internalTls/issuerRef/name': minLength", id="no-issuer"),
    pytest.param(
        {"mcp": {"enabled": True}, "gateway": {"settings": {"tlsCertFile": "/c/tls.crt", "tlsKeyFile": "/c/tls.key"}}},
        "the MCP server calls the gateway within the pod in plain",
        id="tls-between-mcp-and-gateway",
    ),
    pytest.param({"mcp": {"port": 70_000}}, "/mcp/port': maximum: got 70,000, want 65,535", id="port"),
    pytest.param({"s3": {"bucket": "My_Bucket"}}, "/s3/bucket': 'My_Bucket' does not match", id="bucket"),
    pytest.param({"s3": {"endpoint": "https://s3"}}, "/s3/endpoint': 'https://s3' does not match", id="s3-endpoint"),
    pytest.param({"podSecurity": {"runAsUser": 0}}, "/podSecurity/runAsUser': minimum: got 0, want 1", id="root"),
    pytest.param(
        {"networkPolicy": {"externalCidrs": ["all"]}}, "/networkPolicy/externalCidrs/0': 'all' does", id="cidr"
    ),
    pytest.param(
        {"gateway": {"autoscaling": {"kind": "hpa", "minReplicas": 5, "maxReplicas": 2}}},
        "autoscaling of gateway: minReplicas is above maxReplicas",
        id="fewer-than-least",
    ),
    pytest.param(
        {"writer": {"workers": {"autoscaling": {"callsInProgress": 5}}}},
        "/writer/workers/autoscaling': additional properties 'callsInProgress' not allowed",
        id="calls-of-workers",
    ),
    pytest.param(
        {"gateway": {"autoscaling": {"kind": "magic"}}}, "/gateway/autoscaling/kind': value must be", id="autoscaler"
    ),
    pytest.param({"settings": None}, "at '': missing property 'settings'", id="null"),
    pytest.param({"gateway": {"replicas": -1}}, "/gateway/replicas': minimum: got -1, want 1", id="negative-replicas"),
    pytest.param(
        {"gateway": {"image": {"repository": ""}}}, "/gateway/image/repository': '' does not match", id="no-image"
    ),
    pytest.param(
        {"secrets": {"databaseUrl": {"value": "postgresql://db/rearview"}}},
        "postgresql.bundled is true, and secrets.databaseUrl names another: choose one",
        id="two-databases",
    ),
    pytest.param(
        {"secrets": {"redisUrl": {"existingSecret": "redis"}}},
        "redis.bundled is true, and secrets.redisUrl names another: choose one",
        id="two-redis",
    ),
    pytest.param(
        {"s3": {"endpoint": "s3.example.com:443"}},
        "minio.bundled is true, and s3.endpoint names another: choose one",
        id="two-object-stores",
    ),
    pytest.param(
        {"tls": {"mode": "existing", "existingSecret": "cert"}},
        "tls.mode existing needs ingress or gatewayApi",
        id="tls-without-an-edge",
    ),
    pytest.param(
        {"gateway": {"service": {"nodePort": 30051}}}, "/gateway/service/type': value must be one of", id="node-port"
    ),
    pytest.param(
        {
            "gateway": {"service": {"type": "NodePort", "nodePort": 30051}},
            "mcp": {"enabled": True, "service": {"type": "NodePort", "nodePort": 30051}},
        },
        "gateway.service.nodePort and mcp.service.nodePort are both 30051",
        id="node-port-twice",
    ),
    pytest.param({"mcp": {"port": 9464}}, "/mcp/port': 'not' failed", id="port-of-a-neighbour"),
    pytest.param(
        {"commonLabels": {"app.kubernetes.io/name": "x"}},
        "invalid propertyName 'app.kubernetes.io/name'",
        id="label-of-the-chart",
    ),
    pytest.param(
        {"writer": {"resources": {"requests": {"cpu": "2500m"}, "limits": {"cpu": 2}}}},
        "resources of writer: requests.cpu is above limits.cpu",
        id="more-processors-than-allowed",
    ),
    pytest.param(
        {"mcp": {"enabled": True, "resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "1000Mi"}}}},
        "mcp.resources: requests.memory is above limits.memory",
        id="more-memory-than-allowed",
    ),
    pytest.param(
        {"gateway": {"resources": {"limits": {"cpu": -1}}}}, "limits/cpu': exclusiveMinimum: got -1", id="cpu"
    ),
    pytest.param(
        {"retriever": {"settings": {"vectorCopiesMegabytes": 900}}},
        "retriever.settings.vectorCopiesMegabytes is 900",
        id="copies-beyond-memory",
    ),
    pytest.param(
        {"redis": {"bundled": True, "maxMemory": "1gb"}},
        "redis: 1gb of memory to hold, and a limit of 256Mi",
        id="redis-beyond-memory",
    ),
    pytest.param(
        {"retriever": {"resources": {"limits": {"memory": "640Mi"}}}},
        "retriever.settings.vectorCopiesMegabytes is 256",
        id="copies-that-nobody-set",
    ),
    pytest.param(
        {"lifecycle": {"tmpSize": "1.5Gi"}},
        "lifecycle.tmpSize of 1.5Gi holds less than the setting coldCacheBytes of 2147483648",
        id="cache-beyond-disk",
    ),
    pytest.param(
        {"writer": {"extraEnv": [{"name": "REARVIEW_LISTEN", "value": "0.0.0.0:1"}]}},
        "extraEnv of writer: REARVIEW_LISTEN is there twice, or the chart's own values set it",
        id="setting-as-variable",
    ),
    pytest.param(
        {"image": {"registry": "https://registry.example.com"}}, "/image/registry': 'https://reg", id="registry-url"
    ),
    pytest.param(
        {"lifecycle": {"extraEnv": [{"name": "REARVIEW_AUDIT_KEY", "value": "x"}]}},
        "extraEnv of lifecycle: REARVIEW_AUDIT_KEY is there twice",
        id="variable-twice",
    ),
    pytest.param(
        {"gateway": {"extraVolumes": [{"name": "host", "hostPath": {"path": "/"}}]}},
        "/gateway/extraVolumes/0/hostPath': false schema",
        id="host-path",
    ),
    pytest.param(
        {"gateway": {"extraVolumeMounts": [{"name": "models", "mountPath": "/models"}]}},
        "extraVolumeMounts of gateway: no extraVolumes has the name models",
        id="mount-of-nothing",
    ),
    pytest.param(
        {"networkPolicy": {"externalCidrs": ["999.0.0.0/99"]}}, "externalCidrs/0': '999.0.0.0/99' does", id="no-cidr"
    ),
]


@pytest.mark.parametrize(("values", "message"), REFUSED)
def test_refused(values: dict[str, Any], message: str) -> None:
    options = [part for key, value in values.items() for part in ("--set-json", f"{key}={json.dumps(value)}")]
    ended = run(tool("helm"), "template", "rv", CHART, "-f", values_set("no-mcp"), *options)
    assert ended.returncode != 0
    assert message in ended.stderr.replace("\n", " "), ended.stderr
