"""Where a one-machine stack keeps its things.

::

    .rearview/                 --data-dir, else $REARVIEW_HOME, else ./.rearview
      secrets.json             passwords and keys, made once, 0600
      endpoints.json           addresses and API keys for people and clients, 0600
      postgres/data/           the database cluster
      valkey/                  append-only file of the working memory
      s3/                      objects of the cold tier
      models/                  the built embedding model, unless $REARVIEW_MODEL_DIR names a folder for it
      logs/<name>.log          one log per process, rotated by size
      run/lock                 held (flock) by the supervisor, contains its pid
      run/status.json          what the supervisor last said about each process
      run/ports.json           the ports used last, kept while they are free
      run/processes/<name>.json   pid, start time and command line, to clean up after a killed supervisor
      run/postgres/            PostgreSQL's unix socket
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rearview.embedded.errors import StackError

HOME_VARIABLE = "REARVIEW_HOME"
MODELS_VARIABLE = "REARVIEW_MODEL_DIR"
DEFAULT_FOLDER = ".rearview"


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The paths below one data folder; `root` is absolute.

    Attributes:
        root: the folder.
        shared_models: where built models are kept instead of below the root, for several stacks together.
    """

    root: Path
    shared_models: Path | None = None

    @classmethod
    def choose(cls, option: Path | None, environment: Mapping[str, str]) -> DataFolder:
        """Return the folder named by the option, else by `REARVIEW_HOME`, else `./.rearview`.

        `REARVIEW_MODEL_DIR` names a folder for the models outside of it.
        """
        chosen = option or Path(environment.get(HOME_VARIABLE) or DEFAULT_FOLDER)
        models = environment.get(MODELS_VARIABLE)
        return cls(chosen.expanduser().absolute(), Path(models).expanduser().absolute() if models else None)

    @property
    def secrets_file(self) -> Path:
        return self.root / "secrets.json"

    @property
    def endpoints_file(self) -> Path:
        return self.root / "endpoints.json"

    @property
    def postgres(self) -> Path:
        return self.root / "postgres"

    @property
    def postgres_data(self) -> Path:
        return self.postgres / "data"

    @property
    def valkey(self) -> Path:
        return self.root / "valkey"

    @property
    def s3(self) -> Path:
        return self.root / "s3"

    @property
    def models(self) -> Path:
        return self.shared_models or self.root / "models"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def lock_file(self) -> Path:
        return self.run / "lock"

    @property
    def status_file(self) -> Path:
        return self.run / "status.json"

    @property
    def ports_file(self) -> Path:
        return self.run / "ports.json"

    @property
    def process_records(self) -> Path:
        return self.run / "processes"

    @property
    def postgres_sockets(self) -> Path:
        return self.run / "postgres"

    def log_file(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def create(self) -> None:
        """Make the folders, closed to other accounts.

        Run by root, the folders on the way to PostgreSQL's own are passable (0711, names stay hidden), because that
        server runs under an account of its own.

        Raises:
            StackError: the folder cannot be made or written to.
        """
        passable = 0o711 if os.geteuid() == 0 else 0o700
        try:
            for folder, mode in (
                (self.root, passable),
                (self.run, passable),
                (self.postgres, 0o700),
                (self.postgres_sockets, 0o700),
                (self.process_records, 0o700),
                (self.valkey, 0o700),
                (self.s3, 0o700),
                (self.models, 0o755),
                (self.logs, 0o700),
            ):
                folder.mkdir(parents=True, exist_ok=True)
                if folder.stat().st_uid == os.geteuid():
                    folder.chmod(mode)
        except OSError as error:
            raise StackError(
                f"the data folder {self.root} cannot be prepared ({error.strerror}: {error.filename}); "
                "choose another with --data-dir, or run as the account that owns it"
            ) from error
        if not os.access(self.root, os.W_OK):
            raise StackError(f"the data folder {self.root} is not writable for this account")
