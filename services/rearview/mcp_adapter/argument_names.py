"""What an agent calls the fields that the gateway finds wrong: by the arguments of the tool that it called."""

import re
from collections.abc import Collection

from rearview.domain.errors import FieldViolation, InvalidFields

# The first that fits and leads to an argument of the tool is taken; what none fits keeps its name.
_NAMES = tuple(
    (re.compile(pattern), argument)
    for pattern, argument in (
        (r"^parent$", "namespace"),
        (r"^memory\.name$", "memory"),
        (r"^memory\.occurred_at$", "timestamp"),
        (r"^memory\.", ""),
        (r"^filter\.(start|end)_time$", r"time_range.\1"),
        (r"^filter\.", "filters."),
        (r"^names\b", "memories"),
        (r"^events(\[\d+\])\.occurred_at$", r"turns\1.timestamp"),
        (r"^events(\[\d+\])\.tool_call\.tool$", r"turns\1.tool"),
        (r"^events(\[\d+\])\.tool_call\.result$", r"turns\1.content"),
        (r"^events\b", "turns"),
        (r"^context_token_budget$", "max_tokens"),
        (r"^name$", "trace"),
        (r"^name$", "memory"),
        (r"^event$", "event"),
    )
)


def by_arguments(error: InvalidFields, arguments: Collection[str]) -> InvalidFields:
    """Return the error with its fields under the names of a tool's arguments."""
    return InvalidFields(*(FieldViolation(_named(one.field, arguments), one.description) for one in error.violations))


def _named(field: str, arguments: Collection[str]) -> str:
    for pattern, argument in _NAMES:
        named, found = pattern.subn(argument, field, count=1)
        if found and re.split(r"[.\[]", named, maxsplit=1)[0] in arguments:
            return named
    return field
