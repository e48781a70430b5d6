"""What was measured: the figures of constants.yaml, each with the place in docs/benchmarks.md that states it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

CONSTANTS = Path(__file__).parent / "constants.yaml"


class Constant(BaseModel):
    """A figure: `value` in `unit`, and the words (`figure`) in a `section` of docs/benchmarks.md that state it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Annotated[float, Field(gt=0)]
    unit: str
    section: str
    figure: str


@cache
def constants() -> Mapping[str, Constant]:
    """Return the constants by name. Raises: ValidationError: the file is not as its first lines say."""
    return TypeAdapter(dict[str, Constant]).validate_python(yaml.safe_load(CONSTANTS.read_text("utf-8")))
