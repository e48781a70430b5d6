-- Tenants, as the operator's role sees them.

-- name: insert_tenant
INSERT INTO tenant (tenant_id, name, display_name, disabled, requests_per_second, max_memories, max_bytes, created_at,
                    create_request_id, create_fingerprint, first_key_id)
VALUES (%(tenant_id)s, %(name)s, %(display_name)s, %(disabled)s, %(requests_per_second)s, %(max_memories)s,
        %(max_bytes)s, %(created_at)s, %(request_id)s, %(fingerprint)s, %(first_key_id)s)

-- name: insert_first_namespace
INSERT INTO namespace (tenant_id, namespace_id, name, display_name, visibility, owner, forget_grace_period,
                       created_at, updated_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(name)s, %(display_name)s, %(visibility)s, %(owner)s,
        %(forget_grace_period)s, %(created_at)s, %(created_at)s)

-- name: created_by_request
SELECT tenant_id, name, display_name, created_at, disabled, requests_per_second, max_memories, max_bytes, version,
       deleted_at, erased_at, erased, create_fingerprint, first_key_id
FROM tenant
WHERE create_request_id = %(request_id)s

-- name: get_tenant
SELECT tenant_id, name, display_name, created_at, disabled, requests_per_second, max_memories, max_bytes, version,
       deleted_at, erased_at, erased
FROM tenant
WHERE name = %(name)s

-- name: page_of_tenants
SELECT tenant_id, name, display_name, created_at, disabled, requests_per_second, max_memories, max_bytes, version,
       deleted_at, erased_at, erased
FROM tenant
WHERE name > %(after)s
ORDER BY name
LIMIT %(limit)s

-- Changes nothing when a version is given and is not the stored one.
-- name: update_tenant
UPDATE tenant
SET display_name = coalesce(%(display_name)s, display_name),
    disabled = coalesce(%(disabled)s, disabled) OR deleted_at IS NOT NULL,
    requests_per_second = coalesce(%(requests_per_second)s, requests_per_second),
    max_memories = coalesce(%(max_memories)s, max_memories),
    max_bytes = coalesce(%(max_bytes)s, max_bytes),
    version = version + 1
WHERE name = %(name)s AND (%(version)s::bigint IS NULL OR version = %(version)s)
RETURNING tenant_id, name, display_name, created_at, disabled, requests_per_second, max_memories, max_bytes, version,
          deleted_at, erased_at, erased

-- name: delete_tenant
SELECT tenant_id, hold_id FROM rearview_delete_tenant(%(name)s, %(now)s)
