"""Settings read from the environment, and the kinds of values that several have: where one listens, is reached."""

import re
from ipaddress import ip_address
from typing import Annotated

from pydantic import AfterValidator
from pydantic_settings import BaseSettings, SettingsConfigDict

ENVIRONMENT_PREFIX = "REARVIEW_"

_HOST_AND_PORT = r"(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9_.*-]+):[0-9]{1,5}"
_LISTEN = re.compile(_HOST_AND_PORT, re.ASCII)
_TARGET = re.compile(rf"(?:[a-z0-9+]+:///?)?{_HOST_AND_PORT}", re.ASCII)


def _listen(text: str) -> str:
    if not _LISTEN.fullmatch(text):
        raise ValueError("must have the form host:port")
    return text


def _target(text: str) -> str:
    if not _TARGET.fullmatch(text):
        raise ValueError("must have the form host:port, or scheme:///host:port")
    return text


Listen = Annotated[str, AfterValidator(_listen)]
"""Where a service listens, `host:port`."""
Target = Annotated[str, AfterValidator(_target)]
"""Where another service is reached, `host:port` with the scheme of a resolver before it where one is wanted."""


def host_of(listen: str) -> str:
    """Return the host of `host:port`, an IPv6 address without its brackets."""
    return listen.rpartition(":")[0].strip("[]")


def is_loopback(host: str) -> bool:
    """True if only this machine reaches a host. Names other than `localhost` may stand for anything."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Settings(BaseSettings):
    """Settings read once from variables with the prefix `REARVIEW_`, frozen, whose errors show no value."""

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, frozen=True, hide_input_in_errors=True)
