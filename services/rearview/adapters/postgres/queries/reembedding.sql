-- Re-embedding: a tenant's second generation.

-- name: lock_target
SELECT t.ordinal, t.serving, o.ended_at IS NOT NULL AS ended, t.operation_id
FROM tenant_generation t
LEFT JOIN operation o ON o.tenant_id = t.tenant_id AND o.operation_id = t.operation_id
WHERE t.tenant_id = %(tenant_id)s FOR UPDATE OF t

-- name: set_target
INSERT INTO tenant_generation (tenant_id, ordinal, cleared, operation_id, started_at)
VALUES (%(tenant_id)s, %(ordinal)s, false, %(operation_id)s, %(now)s)
ON CONFLICT (tenant_id) DO UPDATE
SET operation_id = excluded.operation_id, started_at = excluded.started_at,
    cleared = tenant_generation.cleared AND tenant_generation.ordinal = excluded.ordinal, ordinal = excluded.ordinal

-- Back to the current generation, in whose tables all is kept.
-- name: go_back
UPDATE tenant_generation SET operation_id = %(operation_id)s, started_at = %(now)s WHERE tenant_id = %(tenant_id)s

-- name: generations
SELECT rearview_answering_generation(%(tenant_id)s) AS answering,
       (SELECT ordinal FROM model_generation WHERE current) AS current, t.ordinal AS target, coalesce(t.cleared, true) AS cleared
FROM (SELECT %(tenant_id)s::uuid AS tenant_id) x
LEFT JOIN tenant_generation t ON t.tenant_id = x.tenant_id

-- name: generation_id
SELECT generation_id FROM model_generation WHERE ordinal = %(ordinal)s

-- name: current
SELECT ordinal FROM model_generation WHERE current

-- name: await_writers
SELECT rearview_await_writers()

-- name: cleared
UPDATE tenant_generation SET cleared = true WHERE tenant_id = %(tenant_id)s AND ordinal = %(ordinal)s

-- name: missing
SELECT unit_id, memory_id
FROM rearview_units_without(%(tenant_id)s, %(namespace_id)s, %(source)s::smallint, %(target)s::smallint, %(after)s, %(limit)s::int)

-- Of the namespace that has waited longest. What a generation waits for that is not used any more goes with it.
-- name: changed
WITH first AS (
  SELECT q.namespace_id, q.ordinal FROM unit_to_embed q
  JOIN model_generation g ON g.ordinal = q.ordinal
  LEFT JOIN tenant_generation t ON t.tenant_id = q.tenant_id
  WHERE q.tenant_id = %(tenant_id)s AND (g.current OR g.ordinal = t.ordinal)
  ORDER BY q.change, q.namespace_id, q.ordinal LIMIT 1)
SELECT q.namespace_id, q.ordinal, q.unit_id, q.memory_id, q.change::text
FROM unit_to_embed q JOIN first f ON f.namespace_id = q.namespace_id AND f.ordinal = q.ordinal
WHERE q.tenant_id = %(tenant_id)s ORDER BY q.unit_id LIMIT %(limit)s

-- name: memory_texts
SELECT memory_id, coalesce(content, '') AS content, occurred_at FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s) AND state <> 4

-- name: store
SELECT rearview_store_vectors(%(tenant_id)s, %(namespace_id)s, %(ordinal)s::smallint, %(unit_ids)s::uuid[], %(memory_ids)s::uuid[],
                              %(vectors)s::text[]::halfvec[], %(changes)s::text[]::xid8[])

-- name: serve
SELECT rearview_serve_generation(%(tenant_id)s, %(ordinal)s::smallint, %(most)s::int)

-- name: tenants
SELECT tenant_id FROM rearview_tenants_to_embed(%(limit)s::int)
