-- What a backup's manifest says of the database at the moment of its snapshot; read as the owner.

-- name: export_snapshot
SELECT pg_export_snapshot(), now(), current_setting('server_version'), pg_database_size(current_database())

-- name: migrations
SELECT migration_id FROM _yoyo_migration ORDER BY migration_id

-- name: generations
SELECT ordinal, generation_id, model, current FROM model_generation ORDER BY ordinal

-- name: tenants
SELECT tenant_id FROM tenant ORDER BY tenant_id

-- name: counts
SELECT 'tenants', count(*) FROM tenant WHERE deleted_at IS NULL
UNION ALL SELECT 'namespaces', count(*) FROM namespace WHERE deleted_at IS NULL
UNION ALL SELECT 'events', count(*) FROM event
UNION ALL SELECT 'memories', count(*) FROM memory
UNION ALL SELECT 'cold_segments', count(*) FROM cold_segment
UNION ALL SELECT 'forget_receipts', count(*) FROM forget_receipt
UNION ALL SELECT 'tombstones', count(*) FROM tombstone
UNION ALL SELECT 'audit_records', count(*) FROM audit_record

-- name: segment_keys
SELECT object_key FROM cold_segment ORDER BY object_key

-- name: is_empty
SELECT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_class.oid AND d.deptype = 'e'))
