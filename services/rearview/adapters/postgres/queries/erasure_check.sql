-- Looking, after a purge, for what it named. Nothing here changes anything but `verified`.

-- name: purged
SELECT namespace_id, cardinality(memory_ids) + cardinality(event_ids) AS ids, cardinality(stale_units) AS stale,
       places, digest
FROM forget_receipt WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s AND state = 2

-- name: ids
SELECT i.id FROM forget_receipt r
CROSS JOIN LATERAL unnest((r.memory_ids || r.event_ids)[%(first)s:%(last)s]) AS i (id)
WHERE r.tenant_id = %(tenant_id)s AND r.receipt_id = %(receipt_id)s

-- name: rows_of
SELECT 'postgres.memory' AS place, count(*) AS found FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(ids)s) OR fact_source_id = ANY (%(ids)s) AND state <> 4)
UNION ALL SELECT 'postgres.event', count(*) FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(ids)s)
UNION ALL SELECT 'postgres.memory_event', count(*) FROM memory_event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(ids)s) OR event_id = ANY (%(ids)s) OR repeats = ANY (%(ids)s))
UNION ALL SELECT 'postgres.memory_source', count(*) FROM memory_source
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(ids)s) OR source_memory_id = ANY (%(ids)s))
UNION ALL SELECT 'postgres.memory_stats', count(*) FROM memory_stats
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s)
UNION ALL SELECT 'postgres.open_window', count(*) FROM open_window
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(ids)s) OR event_id = ANY (%(ids)s))
UNION ALL SELECT 'postgres.memory_original', count(*) FROM memory_original
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s)
UNION ALL SELECT 'postgres.event_original', count(*) FROM event_original
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(ids)s)
UNION ALL SELECT 's3.cold_segment', count(*) FROM cold_dead
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(ids)s) OR memory_id IN (
    SELECT (link ->> 'memory_id')::uuid FROM forget_receipt r CROSS JOIN LATERAL jsonb_array_elements(r.cut) AS link
    WHERE r.tenant_id = %(tenant_id)s AND r.receipt_id = %(receipt_id)s
    UNION SELECT unnest(r.reworded) FROM forget_receipt r
    WHERE r.tenant_id = %(tenant_id)s AND r.receipt_id = %(receipt_id)s))

-- Answers and requests name what they are about by resource names, which end in ids.
-- name: mentions_of
WITH named AS (SELECT id::text FROM unnest(%(ids)s::uuid[]) AS id)
SELECT 'postgres.recall_trace' AS place, count(DISTINCT r.trace_id) AS found
FROM recall_trace r
CROSS JOIN LATERAL regexp_matches(
  r.trace::text, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'g') AS m (id)
JOIN named n ON n.id = m.id[1]
WHERE r.tenant_id = %(tenant_id)s AND r.namespaces @> ARRAY[%(namespace_id)s]
UNION ALL
SELECT 'postgres.request', count(DISTINCT q.request_id)
FROM request q
CROSS JOIN LATERAL regexp_matches(
  q.result::text, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'g') AS m (id)
JOIN named n ON n.id = m.id[1]
WHERE q.tenant_id = %(tenant_id)s

-- name: verified
UPDATE forget_receipt SET state = 3, verified_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s AND state = 2
RETURNING digest
