-- Tenants' policies.

-- name: get
SELECT redaction_categories, redaction_vault, version FROM tenant_policy WHERE tenant_id = %(tenant_id)s

-- Changes nothing when a version is given and is not the stored one; no row is version 0.
-- name: update
INSERT INTO tenant_policy AS p (tenant_id, redaction_categories, redaction_vault, version, updated_at)
SELECT %(tenant_id)s, coalesce(%(categories)s::text[], '{}'), coalesce(%(vault)s::boolean, false), 1, %(now)s
WHERE coalesce(%(version)s::bigint, 0) = 0 OR EXISTS (SELECT FROM tenant_policy WHERE tenant_id = %(tenant_id)s)
ON CONFLICT (tenant_id) DO UPDATE
SET redaction_categories = coalesce(%(categories)s::text[], p.redaction_categories),
    redaction_vault = coalesce(%(vault)s::boolean, p.redaction_vault), version = p.version + 1, updated_at = %(now)s
WHERE %(version)s::bigint IS NULL OR p.version = %(version)s
RETURNING redaction_categories, redaction_vault, version

-- name: bump_epochs
SELECT rearview_bump_epoch(n.tenant_id, n.namespace_id, true)
FROM namespace n WHERE n.tenant_id = %(tenant_id)s AND n.deleted_at IS NULL ORDER BY n.namespace_id
