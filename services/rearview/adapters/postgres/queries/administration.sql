-- What administrators ask.

-- The sequence is the record's rank by id. Ids are UUIDv7, made when the record is.
-- name: audit_records
WITH page AS (
  SELECT record_id, recorded_at, principal, action, resource_names, detail, request_id FROM audit_record
  WHERE tenant_id = %(tenant_id)s
    AND (%(after)s::uuid IS NULL OR record_id < %(after)s::uuid)
    AND (%(action)s::text = '' OR action = %(action)s::text)
    AND (%(start)s::timestamptz IS NULL OR recorded_at >= %(start)s::timestamptz)
    AND (%(end)s::timestamptz IS NULL OR recorded_at < %(end)s::timestamptz)
  ORDER BY record_id DESC LIMIT %(limit)s),
ranked AS (
  SELECT record_id, row_number() OVER (ORDER BY record_id) AS sequence FROM audit_record
  WHERE tenant_id = %(tenant_id)s AND record_id <= (SELECT record_id FROM page ORDER BY record_id DESC LIMIT 1))
SELECT p.record_id, r.sequence, p.recorded_at, p.principal, p.action, p.resource_names, p.detail, p.request_id
FROM page p JOIN ranked r ON r.record_id = p.record_id ORDER BY p.record_id DESC

-- name: dead_letters
SELECT j.id, j.task_name, j.args, j.attempts, coalesce(f.error, '') AS error, f.failed_at, coalesce(n.name, '') AS namespace
FROM procrastinate_jobs j
LEFT JOIN job_failure f ON f.tenant_id = %(tenant_id)s AND f.job_id = j.id
LEFT JOIN namespace n ON n.tenant_id = %(tenant_id)s AND n.namespace_id = (j.args ->> 'namespace_id')::uuid
WHERE j.args ->> 'tenant_id' = %(tenant_id)s::text AND j.status = 'failed'
  AND (%(after)s::bigint IS NULL OR j.id < %(after)s::bigint)
  AND (%(job)s::bigint IS NULL OR j.id = %(job)s::bigint)
ORDER BY j.id DESC LIMIT %(limit)s

-- name: lock_dead_letter
SELECT id FROM procrastinate_jobs
WHERE id = %(job)s AND args ->> 'tenant_id' = %(tenant_id)s::text AND status = 'failed' FOR UPDATE

-- name: replay
UPDATE procrastinate_jobs SET status = 'todo', attempts = 0, scheduled_at = NULL, worker_id = NULL
WHERE id = %(job)s AND args ->> 'tenant_id' = %(tenant_id)s::text AND status = 'failed'

-- name: wake
SELECT pg_notify('rearview_jobs', %(task)s)

-- name: tiers
SELECT tier, count(*), coalesce(sum(coalesce(octet_length(content), cold_bytes)), 0) FROM memory
WHERE tenant_id = %(tenant_id)s AND (%(namespace_id)s::uuid IS NULL OR namespace_id = %(namespace_id)s::uuid) AND state <> 4
GROUP BY tier

-- name: generations
SELECT ordinal, generation_id, model, dimension, current, created_at FROM model_generation ORDER BY ordinal DESC
