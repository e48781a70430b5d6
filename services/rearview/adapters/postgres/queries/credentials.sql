-- Keys: found by their id before any tenant is known, managed within one tenant afterwards.

-- name: find
SELECT tenant_id, disabled, requests_per_second, secret_hash, principal, role, namespaces, expires_at, revoked_at,
       key_requests_per_second, access_version
FROM rearview_find_key(%(key_id)s)

-- name: find_tenant
SELECT tenant_id, disabled, requests_per_second, access_version FROM rearview_find_tenant(%(name)s)

-- name: insert
INSERT INTO api_key (tenant_id, key_id, secret_hash, principal, role, namespaces, created_at, expires_at,
                     requests_per_second)
VALUES (%(tenant_id)s, %(key_id)s, %(secret_hash)s, %(principal)s, %(role)s, %(namespaces)s, %(created_at)s,
        %(expires_at)s, %(requests_per_second)s)

-- name: get
SELECT key_id, principal, role, created_at, namespaces, expires_at, revoked_at, requests_per_second
FROM api_key
WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s

-- name: page
SELECT key_id, principal, role, created_at, namespaces, expires_at, revoked_at, requests_per_second
FROM api_key
WHERE tenant_id = %(tenant_id)s
  AND (%(after_time)s::timestamptz IS NULL
       OR (created_at, key_id) < (%(after_time)s::timestamptz, %(after_id)s::text))
ORDER BY created_at DESC, key_id DESC
LIMIT %(limit)s

-- Locks the key, so that a rotation and a revocation of it come one after the other.
-- name: lock
SELECT revoked_at FROM api_key WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s FOR UPDATE

-- name: expire
UPDATE api_key SET expires_at = least(expires_at, %(expires_at)s)
WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s

-- Tells whether it was this call that revoked it: only then is there something to record.
-- name: revoke
UPDATE api_key SET revoked_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND key_id = %(key_id)s AND revoked_at IS NULL
RETURNING key_id

-- name: insert_private_namespace
INSERT INTO namespace (tenant_id, namespace_id, name, display_name, visibility, owner, forget_grace_period,
                       created_at, updated_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(name)s, %(display_name)s, %(visibility)s, %(owner)s,
        %(forget_grace_period)s, %(created_at)s, %(created_at)s)
ON CONFLICT (tenant_id, name) WHERE deleted_at IS NULL DO NOTHING
