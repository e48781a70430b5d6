"""`python -m rearview.retriever`: recall and reading, configured by the environment."""

import sys

from rearview.retriever.app import SERVICE, run_retriever
from rearview.retriever.config import RetrieverConfig
from rearview.rpc.service_process import run_service


def main() -> int:
    """Run the retriever and return the exit code of its process."""
    return run_service(SERVICE, RetrieverConfig, run_retriever)


if __name__ == "__main__":
    sys.exit(main())
