"""What the database samples of columns for its planner stays there until it samples again, whatever was forgotten."""

import psycopg

from rearview.domain.ids import new_id
from rearview.domain.principal import Scope
from tests.support.stack import DatabaseUrls
from tests.support.writer_fixtures import add_namespace

SAMPLED = {
    ("api_key", "key_id principal role secret_hash namespaces"),
    ("audit_record", "principal action resource_names detail request_id trace_id"),
    ("audit_seal", "leaves root previous key_id code"),
    ("cold_garbage", "object_key"),
    ("cold_segment", "object_key"),
    ("event", "session_id redactions"),
    ("event_original", "key_id"),
    ("forget_receipt", "namespace principal reason session_id places digest purge_turns cut"),
    ("import_run", "checksum touched_sessions"),
    ("legal_hold", "scope principal"),
    ("memory", "content_hash intent session_id redactions fact_stance fact_category extractor prompt_version"),
    ("memory_event", "session_id"),
    ("memory_original", "key_id"),
    ("model_generation", "generation_id model card"),
    ("namespace", "name display_name owner"),
    ("namespace_addition", "session_id"),
    ("namespace_grant", "principal access"),
    ("namespace_policy", "expire_after"),
    ("namespace_subscription", "principal"),
    ("open_window", "session_id"),
    ("operation", "kind arguments counts error"),
    ("recall_trace", "principal"),
    ("redaction_placeholder", "session_id category digest"),
    ("request", "method fingerprint"),
    ("rescan_receipt", "categories counts digest"),
    ("session", "session_id"),
    ("tenant", "name create_fingerprint first_key_id erased"),
    ("tenant_policy", "redaction_categories expire_after"),
    ("tombstone", "kind"),
}
"""Names that callers choose, words out of lists of ours, hashes, and what receipts and the audit keep anyway."""


def test_no_column_that_holds_what_people_said_is_sampled(database: DatabaseUrls) -> None:
    with psycopg.connect(database.superuser) as connection:
        connection.execute("SELECT rearview_register_generation('g', 'm', 8, '{}')")
        rows = connection.execute(
            """SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
               WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
                 AND c.relname !~ '^(procrastinate|_yoyo)' AND a.attstattarget IS DISTINCT FROM 0
                 AND a.atttypid = ANY ('{text,text[],json,jsonb,bytea,halfvec,sparsevec}'::regtype[])"""
        ).fetchall()
    assert {(table, column) for table, columns in SAMPLED for column in columns.split()} == set(rows)


def test_what_was_sampled_before_is_dropped(database: DatabaseUrls) -> None:
    scope = Scope(new_id(), new_id(), "notes", principal="tester")
    add_namespace(database.superuser, scope)
    sampled = "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE attname = 'display_name'"
    with psycopg.connect(database.superuser) as connection:
        connection.execute("ALTER TABLE tenant ALTER COLUMN display_name SET STATISTICS 100")
        for number in range(3):
            connection.execute(
                "INSERT INTO tenant SELECT (jsonb_populate_record(t, jsonb_build_object("
                "'tenant_id', %s::text, 'name', %s::text, 'display_name', 'Umberquartz'))).*"
                " FROM tenant t WHERE tenant_id = %s",
                [str(new_id()), f"other-{number}", scope.tenant_id],
            )
        connection.execute("ANALYZE tenant")
        assert "Umberquartz" in str(connection.execute(sampled).fetchall())
        connection.execute("SELECT rearview_forgo_samples()")
        assert "Umberquartz" not in str(connection.execute(sampled).fetchall())
        connection.execute("ANALYZE tenant")
        assert "Umberquartz" not in str(connection.execute(sampled).fetchall())
