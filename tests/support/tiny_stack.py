"""A whole stack under the real supervisor whose services are tiny: `-m tests.support.tiny_stack --data-dir D`."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from rearview.cli.console_log import ConsoleLog
from rearview.embedded.environment import StackAddresses
from rearview.embedded.errors import StackError
from rearview.embedded.paths import DataFolder
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.restart_policy import RestartPolicy
from rearview.embedded.stack import Stack
from rearview.embedded.wiring import ServiceContext, Wiring, run_migrations, service_specs

QUICK = RestartPolicy(
    first_delay_seconds=0.05, crash_loop_after=3, crash_loop_delay_seconds=0.5, stable_after_seconds=30.0
)
STOP_TIMEOUT_SECONDS = 3.0


def main() -> None:
    """Run until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--tenant", default="default")
    parser.add_argument("--with-schema", action="store_true", help="run the real migrations, too")
    arguments = parser.parse_args()
    folder = DataFolder(arguments.data_dir)
    journal = folder.root.with_name(f"{folder.root.name}.journal")

    def migrate(addresses: StackAddresses) -> None:
        with journal.open("a", encoding="utf-8") as file:
            file.write("migrated\n")
        if arguments.with_schema:
            run_migrations(addresses)

    def services(context: ServiceContext) -> list[ProcessSpec]:
        return [
            replace(
                spec,
                argv=(sys.executable, "-m", "tests.support.tiny_service", spec.name, str(journal)),
                environment={**os.environ, **spec.environment},
                stop_timeout_seconds=STOP_TIMEOUT_SECONDS,
            )
            for spec in service_specs(context)
        ]

    log = ConsoleLog(Console(force_terminal=True))
    wiring = Wiring(migrate=migrate, build_models=None, services=services, tenant_id=arguments.tenant)
    try:
        asyncio.run(Stack(folder, wiring, on_event=log.event, on_line=log.line, policy=QUICK).run())
    except StackError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
