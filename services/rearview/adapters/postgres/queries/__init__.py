"""SQL lives in files of named, commented statements; this reads them.

A file holds statements, each under a line `-- name: statement_name`. `{generation}` in a statement stands for the
ordinal of a model generation, whose search tables carry it in their names.
"""

import re
from functools import cache
from importlib import resources
from typing import LiteralString, cast

_NAME = re.compile(r"^-- name: ([a-z_]+)$", re.MULTILINE)


@cache
def load_queries(file: str, generation: int | None = None) -> dict[str, LiteralString]:
    """Return the statements of `queries/{file}.sql` by name.

    Raises:
        KeyError: two statements of the file have one name.
        ValueError: a statement needs a generation and none was given.
    """
    text = resources.files(__name__).joinpath(f"{file}.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    statements: dict[str, LiteralString] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        if name in statements:
            raise KeyError(f"{file}.sql has two statements called {name}")
        if "{generation}" in body:
            if generation is None:
                raise ValueError(f"{file}.sql: {name} needs a model generation")
            body = body.replace("{generation}", str(int(generation)))
        # The text comes from this package's own files and an integer, so it is as literal as a string can be.
        statements[name] = cast("LiteralString", body.strip().rstrip(";"))
    return statements
