"""The changes that make up the schema, and which of them belong to which phase of a roll-out.

A file's name carries its phase: `0007.pre.<what>.sql` runs before the new code starts and must not disturb the old,
`0008.post.<what>.sql` runs when the old code is gone. The job queue's own schema comes first: procrastinate's
complete schema into a fresh database, its migrations into one that has it.
"""

import re
from collections.abc import Sequence
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from typing import Literal, TypeAlias

from procrastinate.schema import SchemaManager

from rearview.adapters.postgres.schema_ledger import SchemaChange
from rearview.adapters.postgres.schema_preconditions import MigrationFailed

Phase: TypeAlias = Literal["pre", "post", "all"]

_FILE = re.compile(r"\d{4}\.(pre|post)\.[a-z_]+\.sql")
_NOT_TRANSACTIONAL = re.compile(r"^-- transactional: false$", re.MULTILINE)
_JOB_QUEUE = "procrastinate."


def own_changes(folder: Traversable | None = None) -> list[SchemaChange]:
    """Return this package's migrations (or a folder's), by number; of one number what comes `pre` comes first.

    Raises:
        ValueError: a file's name does not say its number and phase.
    """
    folder = folder or resources.files("rearview.adapters.postgres").joinpath("migrations")
    changes = []
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    for file in sorted(files, key=lambda file: file.name.replace(".pre.", "..")):
        if not _FILE.fullmatch(file.name):
            raise ValueError(f"{file.name}: migrations are named like 0001.pre.what.sql or 0002.post.what.sql")
        sql = file.read_text(encoding="utf-8")
        changes.append(SchemaChange(file.name.removesuffix(".sql"), sql, not _NOT_TRANSACTIONAL.search(sql)))
    return changes


def job_queue_changes() -> list[SchemaChange]:
    """Return procrastinate's migrations, in order; its complete schema includes them all."""
    folder = resources.files("procrastinate").joinpath("sql", "migrations")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [
        SchemaChange(_JOB_QUEUE + file.name.removesuffix(".sql"), file.read_text(encoding="utf-8")) for file in files
    ]


def job_queue_schema() -> str:
    """Return procrastinate's complete schema, and a note of its version on its main table."""
    version = metadata.version("procrastinate")
    note = f"procrastinate {version}. Jobs hold ids only, no content, and are exempt from row-level security."
    return f"{SchemaManager.get_schema()}\nCOMMENT ON TABLE procrastinate_jobs IS '{note}';"


def phase_of(change: SchemaChange) -> str:
    """Return `pre` or `post`."""
    if change.change_id.startswith(_JOB_QUEUE):
        return "post" if "_post_" in change.change_id else "pre"
    return change.change_id.split(".")[1]


def select(pending: Sequence[SchemaChange], phase: Phase, *, fresh: bool) -> list[SchemaChange]:
    """Return the pending changes that a phase runs, in order.

    On a fresh database no old code runs, so nothing has to wait for its end.

    Raises:
        MigrationFailed: an earlier release's `post` changes never ran, or `pre` changes are due before `post`.
    """
    if phase == "all":
        return list(pending)
    phases = [phase_of(change) for change in pending]
    if phase == "post":
        if "pre" in phases:
            raise MigrationFailed(f"{pending[phases.index('pre')].change_id} is due first: run the phase pre")
        return list(pending)
    end = len(phases) - phases[::-1].index("pre") if "pre" in phases else 0
    due = list(pending[:end])
    if "post" in phases[:end] and not fresh:
        raise MigrationFailed(
            f"{due[phases.index('post')].change_id}, of an earlier release, is due first: when no process of a "
            "release before it runs any more, run the phase post of that release, or stop all and run the phase all"
        )
    return due
