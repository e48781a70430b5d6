"""What is done beside the load: options, the namespace, and the verdict."""

import logging
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from locust import events
from locust.env import Environment
from locust.runners import WorkerRunner

from loadtest.stages import DEFAULT_SCENARIO, scenarios
from loadtest.target import client_of
from loadtest.thresholds import THRESHOLDS, Measured, broken, thresholds
from rearview.client import Client
from rearview.domain.errors import PermissionDenied, RearviewError

FAILED = 1
CANNOT_START = 2

log = logging.getLogger("rearview.loadtest")


def install() -> None:
    """Hook into Locust."""
    events.init_command_line_parser.add_listener(add_options)
    events.init.add_listener(prepare)
    events.quitting.add_listener(judge)


def add_options(parser: ArgumentParser) -> None:
    """Add what a run may be told beside Locust's own options."""
    group = parser.add_argument_group("Rearview")
    group.add_argument(
        "--scenario",
        choices=sorted(scenarios()),
        default=DEFAULT_SCENARIO,
        env_var="REARVIEW_LOAD_SCENARIO",
        help="the stages of scenarios.yaml that the run follows",
    )
    group.add_argument(
        "--endpoints",
        default=".rearview/endpoints.json",
        help="the file that `rearview up` wrote; not read when --host is given",
    )
    group.add_argument(
        "--root-certificates", default="", help="PEM file of the authority that signed the gateway's certificate"
    )
    group.add_argument("--namespace", default="loadtest", help="where the agents' memories go; created if it may be")
    group.add_argument("--thresholds", default=str(THRESHOLDS), help="the limits that the run must keep to")


def prepare(environment: Environment, **_: Any) -> None:
    """See that the limits can be read, the gateway answers and the namespace is there, before anybody talks."""
    options = environment.parsed_options
    if options is None or isinstance(environment.runner, WorkerRunner):
        return
    try:
        thresholds(Path(options.thresholds), options.scenario)
        with client_of(options) as client:
            _see_to_namespace(client)
    except (OSError, ValueError, RearviewError) as error:
        log.error("cannot start: %s", error)
        raise SystemExit(CANNOT_START) from error


def judge(environment: Environment, **_: Any) -> None:
    """Hold the run against its limits; one that broke any ends with exit code 1."""
    options = environment.parsed_options
    if options is None or isinstance(environment.runner, WorkerRunner):
        return
    lines = broken(thresholds(Path(options.thresholds), options.scenario), _measured(environment))
    for line in lines:
        log.error("threshold broken: %s", line)
    if lines:
        environment.process_exit_code = FAILED
    else:
        log.info("all thresholds of %s kept", options.scenario)


def _see_to_namespace(client: Client) -> None:
    try:
        next(client.list_memories(page_size=1), None)
    except PermissionDenied:  # a namespace that does not exist is not told from one that may not be reached
        client.create_namespace(client.namespace, display_name="Load test")


def _measured(environment: Environment) -> list[Measured]:
    return [
        Measured(
            name=entry.name,
            calls=entry.num_requests,
            failures=entry.num_failures,
            p95_ms=entry.get_response_time_percentile(0.95) if entry.num_requests else None,
            p99_ms=entry.get_response_time_percentile(0.99) if entry.num_requests else None,
        )
        for entry in environment.stats.entries.values()
    ]
