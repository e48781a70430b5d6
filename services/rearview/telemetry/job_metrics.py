"""Rate, errors and duration of jobs, each in a trace of its own: whoever caused it has long had an answer."""

import time
from collections.abc import Mapping

import structlog

from rearview.ports.job_queue import JobHandler
from rearview.telemetry.metrics import Metrics, observe_in_trace
from rearview.telemetry.trace_context import enter_trace, new_trace
from rearview.telemetry.tracing import Tracing


def observed_jobs(handlers: Mapping[str, JobHandler], metrics: Metrics, tracing: Tracing) -> Mapping[str, JobHandler]:
    """Return the handlers, each of whose attempts is counted, measured and traced. Call once for each `metrics`."""
    attempts = metrics.counter("job_attempts", "Attempts at jobs that ended, by outcome.", ("task", "outcome"))
    seconds = metrics.histogram("job_seconds", "Duration of attempts at jobs in seconds.", ("task",))

    def observed(task: str, handler: JobHandler) -> JobHandler:
        ok, failed = attempts.labels(task, "ok"), attempts.labels(task, "failed")
        duration = seconds.labels(task)

        async def run(arguments: Mapping[str, str]) -> None:
            enter_trace(new_trace())
            structlog.contextvars.bind_contextvars(task=task)
            started = time.perf_counter()
            ended = failed
            try:
                with tracing.root_span(f"job {task}"):
                    await handler(arguments)
                ended = ok
            finally:
                ended.inc()
                observe_in_trace(duration, time.perf_counter() - started)

        return run

    return {task: observed(task, handler) for task, handler in handlers.items()}
