"""The entry point of migrations, for the command and for programs."""

from rearview.adapters.postgres.schema import Progress, apply_schema, known_changes, pending_changes
from rearview.adapters.postgres.schema_changes import Phase
from rearview.adapters.postgres.schema_preconditions import MigrationFailed

__all__ = ["MigrationFailed", "Phase", "known_migrations", "migrate", "pending_migrations"]

LOCK_TIMEOUT_SECONDS = 600.0


def migrate(
    owner_url: str,
    *,
    phase: Phase = "all",
    on_progress: Progress | None = None,
    wait_seconds: float = 0.0,
    lock_timeout_seconds: float = LOCK_TIMEOUT_SECONDS,
) -> tuple[str, ...]:
    """Bring the schema up to date and return the names of the changes made, none if it was.

    Needs the owner of the database (with CREATEROLE until the services' roles exist), not a superuser, provided that
    an administrator made the extensions where the server lets nobody else. `pre` runs before a roll-out, `post` when
    the old code is gone, `all` where nothing runs meanwhile. Any number may run at a time; one works, others wait.

    Raises:
        MigrationFailed: it says what is wrong and what helps; changes made before stand, the failed one does not.
    """
    return apply_schema(
        owner_url,
        phase=phase,
        on_progress=on_progress or (lambda _: None),
        wait_seconds=wait_seconds,
        lock_timeout_seconds=lock_timeout_seconds,
    )


def known_migrations() -> tuple[str, ...]:
    """Return the names of all changes that this version knows; a database with others is of a later version."""
    return known_changes()


def pending_migrations(url: str) -> tuple[str, ...]:
    """Return the names of the changes that the database lacks.

    Raises:
        MigrationFailed: the server cannot be reached, or the role may not look.
    """
    return pending_changes(url)
