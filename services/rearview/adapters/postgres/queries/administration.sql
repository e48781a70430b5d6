-- What administrators ask.

-- The sequence is the record's rank by time and id, counted on from the last seal that lies wholly before the page.
-- name: audit_records
WITH page AS (
  SELECT record_id, recorded_at, principal, action, resource_names, detail, request_id FROM audit_record
  WHERE tenant_id = %(tenant_id)s
    AND (%(after_id)s::uuid IS NULL OR (recorded_at, record_id) < (%(after_at)s::timestamptz, %(after_id)s::uuid))
    AND (%(action)s::text = '' OR action = %(action)s::text)
    AND (%(start)s::timestamptz IS NULL OR recorded_at >= %(start)s::timestamptz)
    AND (%(end)s::timestamptz IS NULL OR recorded_at < %(end)s::timestamptz)
  ORDER BY recorded_at DESC, record_id DESC LIMIT %(limit)s),
sealed AS (
  SELECT upto_at, upto_id, first_sequence + record_count - 1 AS sequence FROM audit_seal
  WHERE tenant_id = %(tenant_id)s
    AND (upto_at, upto_id) < (SELECT recorded_at, record_id FROM page ORDER BY recorded_at, record_id LIMIT 1)
  ORDER BY number DESC LIMIT 1),
ranked AS (
  SELECT record_id, recorded_at,
         coalesce((SELECT sequence FROM sealed), 0) + row_number() OVER (ORDER BY recorded_at, record_id) AS sequence
  FROM audit_record
  WHERE tenant_id = %(tenant_id)s
    AND (recorded_at, record_id) > (coalesce((SELECT upto_at FROM sealed), '-infinity'),
                                    coalesce((SELECT upto_id FROM sealed), '00000000-0000-0000-0000-000000000000'))
    AND (recorded_at, record_id) <= (SELECT recorded_at, record_id FROM page ORDER BY recorded_at DESC, record_id DESC LIMIT 1))
SELECT p.record_id, r.sequence, p.recorded_at, p.principal, p.action, p.resource_names, p.detail, p.request_id
FROM page p JOIN ranked r ON r.recorded_at = p.recorded_at AND r.record_id = p.record_id
ORDER BY p.recorded_at DESC, p.record_id DESC

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
UPDATE procrastinate_jobs
SET status = 'todo', attempts = 0, scheduled_at = NULL, worker_id = NULL,
    priority = rearview_job_priority(task_name, %(tenant_id)s::text, lock)
WHERE id = %(job)s AND args ->> 'tenant_id' = %(tenant_id)s::text AND status = 'failed'

-- name: wake
SELECT pg_notify('rearview_jobs', %(task)s)

-- name: tiers
SELECT tier, count(*), coalesce(sum(coalesce(octet_length(content), cold_bytes)), 0) FROM memory
WHERE tenant_id = %(tenant_id)s AND (%(namespace_id)s::uuid IS NULL OR namespace_id = %(namespace_id)s::uuid) AND state <> 4
GROUP BY tier

-- name: generations
SELECT ordinal, generation_id, model, dimension, current, created_at,
       ordinal = rearview_answering_generation(%(tenant_id)s) AS answering
FROM model_generation ORDER BY ordinal DESC
