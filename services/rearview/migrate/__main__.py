"""`python -m rearview.migrate`: exit code 0 when the schema is up to date, 1 when it is not, 2 for bad settings."""

import argparse
import sys

from pydantic import ValidationError

from rearview.migrate.app import MigrationFailed, migrate
from rearview.migrate.config import MigrateConfig
from rearview.rpc.service_config import problems_of


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m rearview.migrate", description=__doc__)
    parser.add_argument("--phase", choices=("pre", "post", "all"), default="all", help="part of a roll-out")
    phase = parser.parse_args().phase
    try:
        config = MigrateConfig()  # type: ignore[call-arg]  # from the environment
    except ValidationError as error:
        for problem in problems_of(error):
            sys.stderr.write(f"{problem}\n")
        return 2
    try:
        done = migrate(
            config.database_owner_url.get_secret_value(),
            phase=phase,
            on_progress=_say,
            wait_seconds=config.migrate_wait_seconds,
            lock_timeout_seconds=config.migrate_lock_timeout_seconds,
        )
    except MigrationFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    _say(f"{len(done)} changes made" if done else "nothing to do: the schema is up to date")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
