"""`python -m rearview.writer`: calls and jobs of the writer, configured by the environment."""

import sys

from pydantic import ValidationError

from rearview.domain.embedding_errors import ModelError
from rearview.domain.errors import RearviewError
from rearview.rpc.server import run
from rearview.telemetry.logs import configure_logging
from rearview.writer.app import SERVICE, run_writer
from rearview.writer.config import WriterConfig

_BAD_CONFIGURATION = 2
_CANNOT_START = 1


def main() -> int:
    """Run the writer; return the exit code of the process: 2 for a bad configuration, 1 if it cannot start."""
    try:
        config = WriterConfig()  # type: ignore[call-arg]  # the environment gives the arguments
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            variable = "REARVIEW_" + "_".join(str(part) for part in problem["loc"]).upper()
            sys.stderr.write(f"{variable}: {problem['msg']}\n")
        return _BAD_CONFIGURATION
    configure_logging(SERVICE, level=config.log_level, log_format=config.log_format)
    try:
        run(run_writer(config))
    except (RearviewError, ModelError, OSError) as error:
        sys.stderr.write(f"the writer cannot start: {error}\n")
        return _CANNOT_START
    return 0


if __name__ == "__main__":
    sys.exit(main())
