"""Migrations on a real server: what they make, who may run them, and that nothing happens twice."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from rearview.adapters.postgres.schema import apply_schema
from rearview.adapters.postgres.schema_changes import own_changes, phase_of, select
from rearview.migrate.app import MigrationFailed, migrate, pending_migrations
from tests.support.stack import DatabaseUrls

OWN = [change.change_id for change in own_changes()]


def apply_folder(url: str, folder: Path, phase: str) -> tuple[str, ...]:
    return apply_schema(
        url,
        phase=phase,  # type: ignore[arg-type]
        on_progress=lambda _: None,
        wait_seconds=0,
        lock_timeout_seconds=60,
        folder=folder,
    )


def tables(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {row[0] for row in rows}


def test_an_empty_database_gets_everything_and_a_second_run_does_nothing(empty_database: DatabaseUrls) -> None:
    assert set(OWN) <= set(pending_migrations(empty_database.owner))
    said: list[str] = []

    done = migrate(empty_database.owner, on_progress=said.append)

    assert done == ("procrastinate", *OWN)
    assert said == ["installing the job queue's schema", *(f"applying {name}" for name in OWN)]
    assert {"memory", "event", "procrastinate_jobs", "_yoyo_migration"} <= tables(empty_database.owner)
    assert pending_migrations(empty_database.owner) == ()
    assert migrate(empty_database.owner) == ()


def test_a_superuser_may_migrate_too(empty_database: DatabaseUrls) -> None:
    assert migrate(empty_database.superuser)[0] == "procrastinate"
    with pytest.raises(MigrationFailed, match="belong to the role postgres"):
        migrate(empty_database.owner)


def test_the_job_queues_version_is_recorded(database: DatabaseUrls) -> None:
    with psycopg.connect(database.owner) as connection:
        row = connection.execute("SELECT obj_description('procrastinate_jobs'::regclass)").fetchone()
    assert row is not None
    assert row[0].startswith("procrastinate 3.10.0.")


def test_two_at_once_make_each_change_once(empty_database: DatabaseUrls) -> None:
    results: list[tuple[str, ...]] = []
    start = threading.Barrier(3)

    def run() -> None:
        start.wait()
        results.append(migrate(empty_database.owner))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(results) == [(), (), ("procrastinate", *OWN)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001.pre.add.sql").write_text("CREATE TABLE added (n int);\nINSERT INTO added SELECT 1;")
    (tmp_path / "0002.post.drop.sql").write_text("ALTER TABLE added ADD COLUMN cleaned int;")
    return tmp_path


def test_post_changes_wait_for_the_phase_post(empty_database: DatabaseUrls, folder: Path) -> None:
    url = empty_database.owner
    with pytest.raises(MigrationFailed, match="is due first: run the phase pre"):
        apply_folder(url, folder, "post")
    assert apply_folder(url, folder, "pre") == ("procrastinate", "0001.pre.add")
    assert apply_folder(url, folder, "pre") == ()
    assert apply_folder(url, folder, "post") == ("0002.post.drop",)
    assert apply_folder(url, folder, "all") == ()


def test_of_one_number_what_comes_before_the_new_code_comes_first(tmp_path: Path) -> None:
    for name in ("0002.post.b.sql", "0002.pre.b.sql", "0001.post.a.sql", "0003.pre.c.sql"):
        (tmp_path / name).write_text("SELECT 1;", encoding="utf-8")
    assert [change.change_id for change in own_changes(tmp_path)] == [
        *("0001.post.a", "0002.pre.b", "0002.post.b", "0003.pre.c"),
    ]


def test_from_the_release_before_the_phases_follow_each_other() -> None:
    """Whoever has all up to 0050 rolls out with `pre`, and ends with `post`."""
    after = [change for change in own_changes() if change.change_id >= "0051"]
    assert select(after, "pre", fresh=False) == [change for change in after if phase_of(change) == "pre"]


def test_every_change_can_be_the_first_of_its_session(empty_database: DatabaseUrls, tmp_path: Path) -> None:
    """As for whoever comes from the release before it: none may stand on what an earlier one did to the session."""
    done: list[str] = []
    for change in own_changes():
        (tmp_path / f"{change.change_id}.sql").write_text(change.sql, encoding="utf-8")
        done += apply_folder(empty_database.owner, tmp_path, "all")
    assert done == ["procrastinate", *OWN]


def test_a_release_is_not_skipped_over(empty_database: DatabaseUrls, folder: Path) -> None:
    url = empty_database.owner
    apply_folder(url, folder, "pre")
    (folder / "0003.pre.next.sql").write_text("CREATE TABLE next (n int);")
    with pytest.raises(MigrationFailed, match=r"0002\.post\.drop, of an earlier release, is due first"):
        apply_folder(url, folder, "pre")
    assert apply_folder(url, folder, "all") == ("0002.post.drop", "0003.pre.next")


@pytest.mark.parametrize("phase", ["pre", "all"])
def test_an_older_release_that_comes_back_leaves_a_newer_schema_alone(
    empty_database: DatabaseUrls, folder: Path, phase: str
) -> None:
    """A rollback to a first installation runs that one's Job again, which knows of no later change."""
    url, later = empty_database.owner, folder / "0003.pre.next.sql"
    apply_folder(url, folder, "all")
    later.write_text("CREATE TABLE next (n int);")
    assert apply_folder(url, folder, "pre") == ("0003.pre.next",)
    later.unlink()
    assert apply_folder(url, folder, phase) == ()
    assert {"added", "next"} <= tables(url)


def test_a_fresh_database_has_no_old_code_to_wait_for(empty_database: DatabaseUrls, folder: Path) -> None:
    (folder / "0003.pre.next.sql").write_text("CREATE TABLE next (n int);")
    done = apply_folder(empty_database.owner, folder, "pre")
    assert done == ("procrastinate", "0001.pre.add", "0002.post.drop", "0003.pre.next")


def test_a_failed_change_leaves_nothing_and_can_be_mended(empty_database: DatabaseUrls, folder: Path) -> None:
    (folder / "0002.post.drop.sql").write_text("CREATE TABLE half (n int);\nSELECT 1 / 0;")
    with pytest.raises(MigrationFailed, match=r"0002\.post\.drop failed: division by zero"):
        apply_folder(empty_database.owner, folder, "all")
    assert "added" in tables(empty_database.owner)
    assert "half" not in tables(empty_database.owner)

    (folder / "0002.post.drop.sql").write_text("CREATE TABLE half (n int);")
    assert apply_folder(empty_database.owner, folder, "all") == ("0002.post.drop",)


def test_a_change_may_refuse_transactions(empty_database: DatabaseUrls, folder: Path) -> None:
    (folder / "0003.post.index.sql").write_text("-- transactional: false\nCREATE INDEX CONCURRENTLY ON added (n);")
    assert "0003.post.index" in apply_folder(empty_database.owner, folder, "all")
    assert apply_folder(empty_database.owner, folder, "all") == ()


def test_a_killed_migration_leaves_nothing_and_blocks_nobody(empty_database: DatabaseUrls, folder: Path) -> None:
    slow = folder / "0003.post.slow.sql"
    slow.write_text("CREATE TABLE slow (n int);\nSELECT pg_sleep(300);")
    code = (
        "import sys, pathlib; from rearview.adapters.postgres.schema import apply_schema;"
        "apply_schema(sys.argv[1], phase='all', on_progress=lambda l: print(l, flush=True), wait_seconds=0,"
        " lock_timeout_seconds=9, folder=pathlib.Path(sys.argv[2]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, empty_database.owner, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "0003.post.slow" in line:
            break
    process.kill()
    process.wait()
    process.stdout.close()

    slow.write_text("CREATE TABLE slow (n int);")
    assert apply_folder(empty_database.owner, folder, "all") == ("0003.post.slow",)


def test_badly_named_files_are_refused(empty_database: DatabaseUrls, folder: Path) -> None:
    (folder / "0003.sometime.sql").write_text("SELECT 1;")
    with pytest.raises(ValueError, match=r"0003\.sometime\.sql: migrations are named like"):
        apply_folder(empty_database.owner, folder, "all")


def test_someone_elses_job_queue_is_not_touched(empty_database: DatabaseUrls) -> None:
    with psycopg.connect(empty_database.owner) as connection:
        connection.execute("CREATE TABLE procrastinate_jobs (id int)")
    with pytest.raises(MigrationFailed, match="did not make"):
        migrate(empty_database.owner)


def with_password(url: str, password: str) -> str:
    scheme, _, rest = url.partition("://")
    role, _, host = rest.partition("@")
    return f"{scheme}://{role.partition(':')[0]}:{password}@{host}"


def test_a_wrong_password_is_said_at_once_and_not_repeated(empty_database: DatabaseUrls) -> None:
    url = with_password(empty_database.owner, "Tr0ub4dor")
    with pytest.raises(MigrationFailed, match="password authentication failed") as caught:
        migrate(url, wait_seconds=3600)
    assert "Tr0ub4dor" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://owner:Tr0ub4dor@127.0.0.1:1/rearview", "cannot be reached"),
        ("postgres//owner:Tr0ub4dor@host", "URL is malformed"),
        ("postgresql://owner:Tr0ub4dor@host:port/rearview", "URL is malformed|cannot be reached"),
    ],
)
def test_a_bad_address_is_said_without_the_password(url: str, message: str) -> None:
    with pytest.raises(MigrationFailed, match=message) as caught:
        migrate(url)
    assert "Tr0ub4dor" not in str(caught.value)


def test_a_service_role_may_not_own_the_tables(empty_database: DatabaseUrls) -> None:
    with pytest.raises(MigrationFailed, match="must not own the tables"):
        migrate(empty_database.service)


def test_a_missing_extension_is_named_with_the_cure(empty_database: DatabaseUrls) -> None:
    with psycopg.connect(empty_database.superuser) as connection:
        connection.execute("DROP EXTENSION vector")
    with pytest.raises(MigrationFailed, match=r"let an administrator run .*: CREATE EXTENSION vector"):
        migrate(empty_database.owner)


def test_a_role_that_gets_around_row_level_security_is_refused(empty_database: DatabaseUrls) -> None:
    with psycopg.connect(empty_database.superuser, autocommit=True) as connection:
        connection.execute("ALTER ROLE rearview_operator BYPASSRLS")
        try:
            with pytest.raises(MigrationFailed, match="ALTER ROLE rearview_operator NOSUPERUSER NOBYPASSRLS"):
                migrate(empty_database.owner)
        finally:
            connection.execute("ALTER ROLE rearview_operator NOBYPASSRLS")
        connection.execute("GRANT rearview_owner TO rearview_service")
        try:
            with pytest.raises(MigrationFailed, match="REVOKE rearview_owner FROM rearview_service"):
                migrate(empty_database.owner)
        finally:
            connection.execute("REVOKE rearview_owner FROM rearview_service")


@pytest.fixture
def no_service_roles(empty_database: DatabaseUrls) -> Iterator[DatabaseUrls]:
    """The cluster as it is before anything of this project touched it: the services' roles are out of the way."""
    roles = ("rearview_service", "rearview_operator")
    with psycopg.connect(empty_database.superuser, autocommit=True) as connection:
        for role in roles:
            connection.execute(f"ALTER ROLE {role} RENAME TO {role}_away".encode())
        try:
            yield empty_database
        finally:
            for role in roles:
                if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount:
                    connection.execute(f"DROP OWNED BY {role}".encode())
                    connection.execute(f"DROP ROLE {role}".encode())
                connection.execute(f"ALTER ROLE {role}_away RENAME TO {role}".encode())


def test_missing_roles_need_createrole_and_no_superuser(no_service_roles: DatabaseUrls) -> None:
    with pytest.raises(MigrationFailed, match="CREATE ROLE rearview_service NOLOGIN"):
        migrate(no_service_roles.owner)
    with psycopg.connect(no_service_roles.superuser, autocommit=True) as connection:
        connection.execute("ALTER ROLE rearview_owner CREATEROLE")
        try:
            migrate(no_service_roles.owner)
        finally:
            connection.execute("ALTER ROLE rearview_owner NOCREATEROLE")
        rows = connection.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE 'rearview_%' AND NOT rolcanlogin")
        assert {"rearview_service", "rearview_operator"} == {row[0] for row in rows}


def run_command(url: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path), "REARVIEW_MIGRATE_WAIT_SECONDS": "0"}
    if url is not None:
        environment["REARVIEW_DATABASE_OWNER_URL"] = url
    return subprocess.run(
        [sys.executable, "-m", "rearview.migrate", *arguments], env=environment, capture_output=True, text=True
    )


def test_the_command_says_what_it_did_and_ends_accordingly(empty_database: DatabaseUrls) -> None:
    first = run_command(empty_database.owner, "--phase", "pre")
    assert first.returncode == 0, first.stderr
    assert "applying 0001.pre.tenancy" in first.stdout
    assert run_command(empty_database.owner, "--phase", "post").returncode == 0
    again = run_command(empty_database.owner)
    assert (again.returncode, again.stdout) == (0, "nothing to do: the schema is up to date\n")

    refused = run_command(with_password(empty_database.owner, "Tr0ub4dor"))
    assert refused.returncode == 1
    assert "password authentication failed" in refused.stderr
    assert "Traceback" not in refused.stderr

    unset = run_command(None)
    assert unset.returncode == 2
    assert "REARVIEW_DATABASE_OWNER_URL: Field required" in unset.stderr


def test_no_search_reads_a_list_of_entries_that_its_index_has_not_sorted_in(database: DatabaseUrls) -> None:
    with psycopg.connect(database.owner) as connection:
        registered = connection.execute("SELECT rearview_register_generation('later', 'later', 8, '{}')").fetchone()
        assert registered is not None
        rows = connection.execute(
            "SELECT c.relname, c.reloptions FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'gin'"
        ).fetchall()
        connection.rollback()
    assert {name for name, _ in rows} >= {
        f"search_unit{kind}_{registered[0]}_sv_keys_idx" for kind in ("", "_fresh", "_warm")
    }
    assert {name for name, options in rows if "fastupdate=off" not in (options or [])} == set()
