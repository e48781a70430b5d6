"""Questions to a Redis-protocol server that its operator asks."""

from __future__ import annotations

import redis


class RedisUnreachable(Exception):
    """The server refused, or did not answer in time; the message holds its reason without credentials."""


def ping(url: str, timeout_seconds: float = 3.0) -> None:
    """Authenticate and exchange PING and PONG.

    Raises:
        RedisUnreachable: no connection, a wrong password, data still loading, or no answer within the time.
    """
    client = redis.Redis.from_url(url, socket_timeout=timeout_seconds, socket_connect_timeout=timeout_seconds)
    try:
        client.ping()
    except redis.RedisError as error:
        raise RedisUnreachable(str(error) or type(error).__name__) from error
    finally:
        client.close()
