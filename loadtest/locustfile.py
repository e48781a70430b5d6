"""What Locust runs: `python -m locust -f loadtest/locustfile.py`; see loadtest/README.md."""

import grpc.experimental.gevent

# gRPC's own threads would block every other agent of this process.
grpc.experimental.gevent.init_gevent()

from loadtest.agent import Agent  # noqa: E402 - gRPC must know of gevent before a channel is opened
from loadtest.hooks import install  # noqa: E402
from loadtest.stages import Stages  # noqa: E402

install()

__all__ = ["Agent", "Stages"]
