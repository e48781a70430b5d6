-- What a write leads to, in its own transaction.

-- name: enqueue
SELECT rearview_enqueue(%(task)s::text, %(lock)s::text, %(args)s::jsonb, %(run_at)s::timestamptz)

-- name: bump_epoch
SELECT rearview_bump_epoch(%(tenant_id)s::uuid, %(namespace_id)s::uuid, %(breaking)s::boolean)
