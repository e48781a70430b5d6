import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from rearview.domain.errors import NotFound
from rearview.telemetry.logs import configure_logging, describe_exception
from tests.unit.telemetry.logging_state import restored_logging


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    with restored_logging():
        yield io.StringIO()


def _lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_tells_service_level_time_and_what_is_bound(stream: io.StringIO) -> None:
    configure_logging("writer", stream=stream)
    structlog.contextvars.bind_contextvars(request_id="r1", trace_id="t1")
    structlog.get_logger("rearview.writer").info("indexed", turns=3, 语言="zh")
    (line,) = _lines(stream)
    assert line.pop("timestamp")
    assert line == {
        "event": "indexed",
        "turns": 3,
        "语言": "zh",
        "service": "writer",
        "level": "info",
        "logger": "rearview.writer",
        "request_id": "r1",
        "trace_id": "t1",
    }
    assert "语言" in stream.getvalue()


def test_the_logs_of_libraries_take_the_same_way(stream: io.StringIO) -> None:
    configure_logging("writer", level="warning", stream=stream)
    structlog.contextvars.bind_contextvars(request_id="r1")
    logging.getLogger("psycopg.pool").warning("connection %s lost", 3)
    logging.getLogger("psycopg.pool").info("not at this level")
    (line,) = _lines(stream)
    assert (line["event"], line["service"], line["request_id"]) == ("connection 3 lost", "writer", "r1")


def test_texts_of_exceptions_are_not_logged_but_types_and_places_are(stream: io.StringIO) -> None:
    configure_logging("writer", stream=stream)
    try:
        try:
            raise KeyError("李雷的电话 13800138000")
        except KeyError as cause:
            raise ValueError("duplicate key (我喜欢美式)") from cause
    except ValueError:
        structlog.get_logger().exception("failed")
        logging.getLogger("library").exception("failed too")
    first, second = _lines(stream)
    for line in (first, second):
        described = str(line["exception"])
        assert "builtins.ValueError" in described
        assert "builtins.KeyError" in described
        assert "test_logs.py" in described
    assert "13800138000" not in stream.getvalue()
    assert "美式" not in stream.getvalue()


def test_messages_of_the_project_s_own_errors_hold_no_content_and_stay() -> None:
    assert describe_exception(NotFound("no such memory")).endswith("NotFound: no such memory")


def test_exceptions_that_cause_each_other_are_described_once() -> None:
    one, two = ValueError("1"), KeyError("2")
    one.__cause__, two.__cause__ = two, one
    assert describe_exception(one).count("ValueError") == 1


def test_people_get_plain_lines(stream: io.StringIO) -> None:
    configure_logging("writer", log_format="console", stream=stream)
    structlog.get_logger().warning("slow", seconds=2)
    assert "slow" in stream.getvalue()
    assert "seconds=2" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


def test_an_unknown_level_is_refused(stream: io.StringIO) -> None:
    with pytest.raises(ValueError, match="loud"):
        configure_logging("writer", level="loud", stream=stream)
