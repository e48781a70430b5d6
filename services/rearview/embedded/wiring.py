"""What the stack needs from the layers that it starts: passed in, so that it can be run with any of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rearview.adapters.models.e5_build import build_e5
from rearview.domain.embedding_errors import ModelError
from rearview.embedded.environment import DATABASE_OWNER_URL, ServicePorts, StackAddresses, service_environment
from rearview.embedded.errors import StackError
from rearview.embedded.process_spec import ProcessSpec
from rearview.embedded.readiness import grpc_health
from rearview.migrate.app import MigrationFailed, pending_migrations

SERVICES = ("writer", "worker", "retriever", "lifecycle", "gateway")
"""The processes of the services; the worker is the writer's part that indexes, in a process of its own."""
_PROGRAMS = {"worker": "writer"}
_WORKER_NICENESS = 10
ERROR_TAIL_LINES = 15


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """What the specs of the services are made from."""

    addresses: StackAddresses
    ports: Mapping[str, ServicePorts]
    models: Path
    log_level: str


Migrate = Callable[[StackAddresses], None]
"""Brings the schema up to date; blocking."""
PendingMigrations = Callable[[StackAddresses], Sequence[str]]
"""Returns the names of the migrations that the database lacks."""
BuildModels = Callable[[Path], None]
"""Builds the models into the folder unless they are there; blocking."""
ServiceSpecs = Callable[[ServiceContext], Sequence[ProcessSpec]]
"""Returns the services' specs; what they depend on among themselves, the rest is added."""


def run_migrations(addresses: StackAddresses) -> None:
    """Run `python -m rearview.migrate` as the database's owner.

    Raises:
        StackError: it failed; the message holds the end of its output.
    """
    result = subprocess.run(
        [sys.executable, "-m", "rearview.migrate"],
        env={**os.environ, DATABASE_OWNER_URL: addresses.owner_url},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        output = "\n".join((result.stdout + result.stderr).strip().splitlines()[-ERROR_TAIL_LINES:])
        raise StackError(f"migrations ended with code {result.returncode}:\n{output}")


def lacking_migrations(addresses: StackAddresses) -> Sequence[str]:
    """Return the names of the migrations that the database lacks.

    Raises:
        StackError: the database cannot be asked.
    """
    try:
        return pending_migrations(addresses.owner_url)
    except MigrationFailed as error:
        raise StackError(str(error)) from error


def build_default_model(models: Path) -> None:
    """Build the default embedder's graph from the installed weights; a few seconds the first time.

    Raises:
        StackError: the weights are not installed, or the folder cannot be written.
    """
    try:
        build_e5(models)
    except (ModelError, OSError) as error:
        raise StackError(f"the embedding model could not be built: {error}") from error


def service_specs(context: ServiceContext) -> list[ProcessSpec]:
    """Return the services as `python -m rearview.<service>`; the gateway starts last and stops first.

    On a machine that they share, indexing leaves the processors to those for whom somebody waits.
    """
    specs = []
    for service in SERVICES:
        own = service_environment(
            service, context.ports, context.addresses, models=context.models, log_level=context.log_level
        )
        specs.append(
            ProcessSpec(
                name=service,
                argv=(sys.executable, "-m", f"rearview.{_PROGRAMS.get(service, service)}"),
                environment={**os.environ, "PYTHONUNBUFFERED": "1", **own},
                ready=grpc_health(context.ports[service].address),
                ready_timeout_seconds=120.0,
                niceness=_WORKER_NICENESS if service == "worker" else 0,
                depends_on=[name for name in SERVICES if name != "gateway"] if service == "gateway" else (),
            )
        )
    return specs


@dataclass(frozen=True, slots=True)
class Wiring:
    """The parts of a stack that are chosen by whoever starts it; None leaves a part out."""

    migrate: Migrate | None = run_migrations
    pending_migrations: PendingMigrations | None = lacking_migrations
    build_models: BuildModels | None = build_default_model
    services: ServiceSpecs | None = service_specs
    tenant_id: str | None = "default"

    @classmethod
    def dependencies_only(cls) -> Wiring:
        """PostgreSQL, Valkey and S3 alone, prepared but without tables."""
        return cls(migrate=None, build_models=None, services=None, tenant_id=None)
