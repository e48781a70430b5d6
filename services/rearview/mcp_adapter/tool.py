"""A tool: what it is called, what it takes and answers, and what it does to the caller's memories."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import mcp_types as types

from rearview.client import AsyncClient
from rearview.domain.errors import InvalidFields
from rearview.mcp_adapter.answers import Json
from rearview.mcp_adapter.argument_names import by_arguments
from rearview.mcp_adapter.fields import Field, Fields, Number, Reading, Text

Arguments = dict[str, Any]

NAMESPACE = Text(description='The namespace to use, by its id, for example "team"; leave it out for your own default.')
SESSION = Text(description='The id of the conversation, for example "chat-42".')
TOP_K = Number(description="How many hits at most, 1 to 100. Default 5.", low=1, high=100, whole=True)
TIME_ZONE = Text(
    description='The user\'s IANA zone, for example "Asia/Shanghai", in which "yesterday" and plain dates are meant. '
    "Default UTC."
)


@dataclass(frozen=True, slots=True)
class Hints:
    """What a host may assume before it asks its user."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False


READS = Hints(read_only=True, idempotent=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `run` is given arguments that have been checked and makes its calls as the given client."""

    name: str
    title: str
    description: str
    takes: Mapping[str, Field]
    answers: Json
    hints: Hints
    run: Callable[[AsyncClient, Arguments], Awaitable[Json]]
    text: Callable[[Json], str] | None = None

    def published(self) -> types.Tool:
        """Return the tool as it is listed."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=Fields(of=self.takes).shape(),
            output_schema=self.answers,
            annotations=types.ToolAnnotations(
                title=self.title,
                read_only_hint=self.hints.read_only,
                destructive_hint=self.hints.destructive,
                idempotent_hint=self.hints.idempotent,
                open_world_hint=False,
            ),
        )

    async def call(self, client: AsyncClient, read: Arguments) -> Json:
        """Make the tool's calls. Raises: InvalidFields: by the names of the tool's arguments."""
        try:
            return await self.run(client, read)
        except InvalidFields as error:
            raise by_arguments(error, self.takes) from error

    def read(self, arguments: Mapping[str, Any] | None) -> Arguments:
        """Return checked arguments. Raises: InvalidFields: with everything that is wrong."""
        given = dict(arguments or {})
        reading = Reading()
        if "time_zone" in self.takes and isinstance(given.get("time_zone"), str):
            reading.zone = _zone(given["time_zone"], reading)
        read: Arguments = Fields(of=self.takes).read(given, "", reading)
        reading.raise_if_any()
        return read


def _zone(name: str, reading: Reading) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        reading.refuse("time_zone", f'expected an IANA zone like "Asia/Shanghai" or "UTC", got {name[:60]!r}')
        return None
