"""`python -m rearview.mcp_adapter`: the adapter, configured by the environment."""

import logging
import sys

import uvloop
from pydantic import ValidationError

from rearview.domain.errors import RearviewError
from rearview.mcp_adapter.app import run_adapter
from rearview.mcp_adapter.config import McpConfig
from rearview.rpc.service_config import problems_of
from rearview.telemetry.logs import configure_logging


def main(**overrides: object) -> int:
    """Run the adapter and return the exit code of its process; `overrides` stand before the environment."""
    try:
        config = McpConfig(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        for problem in problems_of(error):
            sys.stderr.write(f"{problem}\n")
        return 2
    # Standard output belongs to the protocol.
    configure_logging("mcp", level=config.log_level)
    # The SDK logs sessions coming and going, by their ids.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    try:
        uvloop.run(run_adapter(config))
    except (RearviewError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
