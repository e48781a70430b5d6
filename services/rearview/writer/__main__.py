"""`python -m rearview.writer`: calls and jobs of the writer, configured by the environment."""

import sys

from rearview.rpc.service_process import run_service
from rearview.writer.app import SERVICE, run_writer
from rearview.writer.config import WriterConfig


def main() -> int:
    """Run the writer and return the exit code of its process."""
    return run_service(SERVICE, WriterConfig, run_writer)


if __name__ == "__main__":
    sys.exit(main())
