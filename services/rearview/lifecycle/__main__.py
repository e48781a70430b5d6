"""`python -m rearview.lifecycle`: purges, rounds and administration, configured by the environment."""

import sys

from rearview.lifecycle.app import SERVICE, run_lifecycle
from rearview.lifecycle.config import LifecycleConfig
from rearview.rpc.service_process import run_service


def main() -> int:
    """Run the lifecycle service and return the exit code of its process."""
    return run_service(SERVICE, LifecycleConfig, run_lifecycle)


if __name__ == "__main__":
    sys.exit(main())
