-- Access counts, added once each. The row of the tenant's last batch is locked first, so batches come one by one.

-- name: advance
INSERT INTO access_drain AS d (tenant_id, number) VALUES (%(tenant_id)s, %(number)s)
ON CONFLICT (tenant_id) DO UPDATE SET number = excluded.number WHERE d.number < excluded.number
RETURNING number

-- name: analyze
SELECT rearview_analyze_grown('memory_stats')

-- Ordered, so that two transactions never wait for each other. What was purged meanwhile is passed over, also when it is
-- being purged right now: without the lock, its row would be seen until the purge commits, and be left without a memory.
-- name: add
WITH added AS (
  INSERT INTO memory_stats AS s (tenant_id, namespace_id, memory_id, access_count, last_accessed_at)
  SELECT %(tenant_id)s, c.namespace_id, c.memory_id, c.count, c.last_accessed_at
  FROM unnest(%(namespaces)s::uuid[], %(memories)s::uuid[], %(counts)s::bigint[], %(times)s::timestamptz[])
    AS c (namespace_id, memory_id, count, last_accessed_at)
  JOIN memory m ON m.tenant_id = %(tenant_id)s AND m.namespace_id = c.namespace_id AND m.memory_id = c.memory_id
  ORDER BY c.namespace_id, c.memory_id
  FOR KEY SHARE OF m
  ON CONFLICT (tenant_id, namespace_id, memory_id) DO UPDATE
    SET access_count = s.access_count + excluded.access_count,
        last_accessed_at = greatest(s.last_accessed_at, excluded.last_accessed_at)
  RETURNING 1)
SELECT count(*) FROM added
