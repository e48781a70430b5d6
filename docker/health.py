"""Ends with 0 if the gRPC service at `host:port` says that it serves: a health check without kubelet."""

import sys
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

with grpc.insecure_channel(sys.argv[1]) as channel:
    health: Any = health_pb2_grpc.HealthStub(channel)  # its type hints know no methods
    answer = health.Check(health_pb2.HealthCheckRequest(), timeout=3)
sys.exit(answer.status != health_pb2.HealthCheckResponse.SERVING)
