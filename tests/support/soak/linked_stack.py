"""The whole stack, whose services reach their servers over links, and whose clocks can be moved.

`-m tests.support.soak.linked_stack --data-dir D --links '{"postgres": 5000, ...}' --clocks C --clock-library L`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from rearview.cli.console_log import ConsoleLog
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DataFolder
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.stack import Stack
from rearview.embedded.wiring import ServiceContext, Wiring, service_specs

LINKED = ("postgres", "valkey", "s3")
CLOCK_READ_SECONDS = 1


def clock_variables(library: str, file: Path) -> dict[str, str]:
    """Return the variables by which libfaketime adds to a process's clock what the file says; timers go on as ever."""
    return {
        "LD_PRELOAD": library,
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": str(CLOCK_READ_SECONDS),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def main() -> None:
    """Run until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--links", type=json.loads, required=True)
    parser.add_argument("--clocks", type=Path, required=True)
    parser.add_argument("--clock-library", default="")
    arguments = parser.parse_args()

    def services(context: ServiceContext) -> list[ProcessSpec]:
        ports = {f"{name}_port": arguments.links[name] for name in LINKED}
        linked = replace(context, addresses=replace(context.addresses, **ports))
        specs = []
        for spec in service_specs(linked):
            clock = {}
            if arguments.clock_library:
                clock = clock_variables(arguments.clock_library, arguments.clocks / spec.name)
            specs.append(replace(spec, environment={**spec.environment, **clock}))
        return specs

    folder = DataFolder.choose(arguments.data_dir, {})
    log = ConsoleLog(Console(force_terminal=True))
    try:
        asyncio.run(Stack(folder, Wiring(services=services), on_event=log.event, on_line=log.line).run())
    except StackError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
