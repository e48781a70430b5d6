-- What a tenant may store.

-- name: refuse_excess
SELECT rearview_refuse_excess(%(tenant_id)s, %(max_memories)s, %(max_bytes)s)
