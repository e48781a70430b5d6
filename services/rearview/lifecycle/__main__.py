"""`python -m rearview.lifecycle`: purges, rounds and administration, configured by the environment."""

import sys

from pydantic import ValidationError

from rearview.domain.errors import RearviewError
from rearview.lifecycle.app import run_lifecycle
from rearview.lifecycle.config import LifecycleConfig
from rearview.rpc.server import run

_BAD_CONFIGURATION = 2
_CANNOT_START = 1


def main() -> int:
    """Run the service; return the exit code of the process: 2 for a bad configuration, 1 if it cannot start."""
    try:
        config = LifecycleConfig()  # type: ignore[call-arg]  # the environment gives the arguments
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            variable = "REARVIEW_" + "_".join(str(part) for part in problem["loc"]).upper()
            sys.stderr.write(f"{variable}: {problem['msg']}\n")
        return _BAD_CONFIGURATION
    try:
        run(run_lifecycle(config))
    except (RearviewError, OSError) as error:
        sys.stderr.write(f"the lifecycle service cannot start: {error}\n")
        return _CANNOT_START
    return 0


if __name__ == "__main__":
    sys.exit(main())
