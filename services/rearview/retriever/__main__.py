"""`python -m rearview.retriever`: recall and reading, configured by the environment."""

import sys

from pydantic import ValidationError

from rearview.domain.embedding_errors import ModelError
from rearview.domain.errors import RearviewError
from rearview.retriever.app import run_retriever
from rearview.retriever.config import RetrieverConfig
from rearview.rpc.server import run

_BAD_CONFIGURATION = 2
_CANNOT_START = 1


def main() -> int:
    """Run the retriever; return the exit code of the process: 2 for a bad configuration, 1 if it cannot start."""
    try:
        config = RetrieverConfig()  # type: ignore[call-arg]  # the environment gives the arguments
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            variable = "REARVIEW_" + "_".join(str(part) for part in problem["loc"]).upper()
            sys.stderr.write(f"{variable}: {problem['msg']}\n")
        return _BAD_CONFIGURATION
    try:
        run(run_retriever(config))
    except (RearviewError, ModelError, OSError) as error:
        sys.stderr.write(f"the retriever cannot start: {error}\n")
        return _CANNOT_START
    return 0


if __name__ == "__main__":
    sys.exit(main())
