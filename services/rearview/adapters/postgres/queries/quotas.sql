-- What a tenant may store.

-- name: exceeded
SELECT quota, most, used FROM rearview_quota_exceeded(%(tenant_id)s, %(max_memories)s, %(max_bytes)s)
