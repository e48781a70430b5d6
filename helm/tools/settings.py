"""What the services read from the environment, as the chart needs to know it: read from their own configuration."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_settings import BaseSettings

from rearview.gateway.config import GatewayConfig
from rearview.lifecycle.config import LifecycleConfig
from rearview.migrate.config import MigrateConfig
from rearview.retriever.config import RetrieverConfig
from rearview.rpc.settings import ENVIRONMENT_PREFIX
from rearview.writer.config import WriterConfig

CONFIGS: Mapping[str, type[BaseSettings]] = {
    "gateway": GatewayConfig,
    "writer": WriterConfig,
    "retriever": RetrieverConfig,
    "lifecycle": LifecycleConfig,
    "migrate": MigrateConfig,
}

# What the chart itself knows: where a process listens, where its neighbours and its object store are.
PLACES = frozenset(
    {
        *("listen", "metrics_port", "writer_address", "retriever_address", "lifecycle_address", "writer_role"),
        *("s3_endpoint", "s3_bucket", "s3_secure"),
    }
)

# What only tests set.
HIDDEN = frozenset({"fault_point"})

_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
_COPIED = ("type", "enum", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable that one service reads.

    Attributes:
        field: its name in the service's configuration.
        required: whether the service refuses to start without.
        secret: whether it belongs into a Secret.
        schema: JSON schema of its value, with description and default.
    """

    field: str
    required: bool
    secret: bool
    schema: Mapping[str, Any]

    @property
    def variable(self) -> str:
        """The environment variable."""
        return ENVIRONMENT_PREFIX + self.field.upper()

    @property
    def key(self) -> str:
        """The key in the chart's values."""
        first, *rest = self.field.split("_")
        return first + "".join(part.capitalize() for part in rest)


def settings_of(service: str) -> list[Setting]:
    """Return every setting of a service, in the order of its configuration."""
    config = CONFIGS[service]
    model = config.model_json_schema()
    required = set(model.get("required", ()))
    described = _descriptions(config)
    found = []
    for name, raw in model["properties"].items():
        if name in HIDDEN:
            continue
        kind = next((part for part in raw.get("anyOf", ()) if part.get("type") != "null"), raw)
        schema: dict[str, Any] = {key: kind[key] for key in _COPIED if key in kind}
        if name in described:
            schema["description"] = described[name]
        if raw.get("default") is not None:
            schema["default"] = raw["default"]
        found.append(Setting(name, name in required, kind.get("format") == "password", schema))
    return found


def _descriptions(config: type[BaseSettings]) -> dict[str, str]:
    """What the docstrings of a configuration and of its bases say of each field; the nearest one counts."""
    texts: dict[str, str] = {}
    for base in reversed(config.__mro__):
        if issubclass(base, BaseSettings) and base.__doc__:
            for name, text in _ATTRIBUTE.findall(inspect.cleandoc(base.__doc__)):
                texts[name] = " ".join(text.split())
    return texts
