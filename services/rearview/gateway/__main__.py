"""`python -m rearview.gateway`: the public API, configured by the environment."""

import sys

from rearview.gateway.app import SERVICE, run_gateway
from rearview.gateway.config import GatewayConfig
from rearview.rpc.service_process import run_service


def main() -> int:
    """Run the gateway and return the exit code of its process."""
    return run_service(SERVICE, GatewayConfig, run_gateway)


if __name__ == "__main__":
    sys.exit(main())
