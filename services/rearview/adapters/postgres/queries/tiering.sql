-- Moving memories between tiers. Every transaction that moves begins with the lease; rows are locked sessions first,
-- then memories, as by all who change them.

-- name: acquire
INSERT INTO lifecycle_lease AS l (tenant_id, namespace_id, holder, token, expires_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(holder)s, 1, now() + %(length)s::interval)
ON CONFLICT (tenant_id, namespace_id) DO UPDATE
SET holder = excluded.holder, token = l.token + 1, expires_at = excluded.expires_at
WHERE l.holder IS NULL OR l.expires_at < now()
RETURNING token

-- name: hold
UPDATE lifecycle_lease SET expires_at = now() + %(length)s::interval
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND holder = %(holder)s AND token = %(token)s
RETURNING token

-- name: release
UPDATE lifecycle_lease
SET holder = NULL, swept_at = CASE WHEN %(swept)s::boolean THEN now() ELSE swept_at END
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND holder = %(holder)s AND token = %(token)s

-- name: policy
SELECT coalesce(n.warm_after, t.warm_after), coalesce(n.cold_after, t.cold_after),
       coalesce(n.max_hot_memories, t.max_hot_memories), coalesce(n.hot_priority_floor, t.hot_priority_floor),
       coalesce(n.expire_after, t.expire_after), coalesce(n.event_retention, t.event_retention),
       coalesce(n.trace_retention, t.trace_retention), coalesce(n.value_floor, t.value_floor),
       coalesce(n.value_grace, t.value_grace)
FROM (SELECT %(tenant_id)s::uuid AS tenant_id) x
LEFT JOIN tenant_policy t ON t.tenant_id = x.tenant_id
LEFT JOIN namespace_policy n ON n.tenant_id = x.tenant_id AND n.namespace_id = %(namespace_id)s

-- name: namespaces
SELECT namespace_id FROM namespace
WHERE tenant_id = %(tenant_id)s AND deleted_at IS NULL
  AND (%(namespace_id)s::uuid IS NULL OR namespace_id = %(namespace_id)s::uuid)
ORDER BY namespace_id

-- Unused for so long and not held in the hot tier. Their use is looked up, not joined: a join that was planned for few rows
-- reads the whole namespace's for each.
-- name: unused
SELECT m.memory_id FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.tier = %(tier)s AND m.tier < 3 AND m.state <> 4
  AND NOT m.pinned AND m.priority < %(floor)s::real AND m.updated_at <= %(cutoff)s
  AND coalesce((SELECT s.last_accessed_at FROM memory_stats s
                WHERE s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id), '-infinity') <= %(cutoff)s
ORDER BY m.updated_at, m.memory_id LIMIT %(limit)s

-- name: hot_count
SELECT count(*) FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND tier = 1 AND state <> 4

-- The oldest and least valued first: a month of age weighs as much as the whole priority.
-- name: excess
SELECT m.memory_id FROM memory m
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.tier = 1 AND m.state <> 4
  AND NOT m.pinned AND m.priority < %(floor)s::real
ORDER BY greatest(m.updated_at, s.last_accessed_at) + m.priority * interval '30 days', m.memory_id LIMIT %(limit)s

-- Read since they left the hot tier. What is written is brought back before.
-- name: used
SELECT m.memory_id FROM memory_stats s
JOIN memory m ON m.tenant_id = s.tenant_id AND m.namespace_id = s.namespace_id AND m.memory_id = s.memory_id
WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.last_accessed_at > %(cutoff)s
  AND m.tier IN (2, 3) AND m.state <> 4 AND s.last_accessed_at > coalesce(m.tiered_at, '-infinity')
ORDER BY m.memory_id LIMIT %(limit)s

-- name: lock_movable
SELECT m.memory_id FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s)
  AND m.tier = 1 AND m.state <> 4 AND NOT m.pinned AND m.priority < %(floor)s::real
  AND (%(cutoff)s::timestamptz IS NULL OR m.updated_at <= %(cutoff)s::timestamptz)
  AND NOT EXISTS (SELECT FROM open_window w WHERE w.tenant_id = m.tenant_id AND w.namespace_id = m.namespace_id
                    AND w.memory_id = m.memory_id)
ORDER BY m.memory_id FOR UPDATE SKIP LOCKED

-- name: set_tier
UPDATE memory SET tier = %(tier)s, tiered_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)

-- name: lock_warm
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
  AND tier = 2 AND state <> 4
ORDER BY memory_id FOR UPDATE

-- name: segment_order
SELECT memory_id, octet_length(content) FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s) AND tier = 2
ORDER BY occurred_at, memory_id

-- xmin tells at the commit whether anything of the row has changed since. What waits for its vector waits here, too.
-- name: cold_batch
SELECT m.memory_id, m.xmin::text, m.content, m.metadata::text, m.entities::text, m.generation, m.occurred_at,
       coalesce(m.occurred_until, m.occurred_at)
FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s)
  AND m.tier = 2 AND m.state <> 4
  AND NOT EXISTS (SELECT FROM unit_to_embed q WHERE q.tenant_id = m.tenant_id AND q.namespace_id = m.namespace_id
                    AND q.ordinal = %(generation)s AND q.memory_id = m.memory_id)
ORDER BY m.occurred_at, m.memory_id

-- name: insert_segment
INSERT INTO cold_segment (tenant_id, namespace_id, segment_id, object_key, generation, memories, units, index_bytes, total_bytes,
                          block_offsets, first_occurred, last_occurred, created_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(segment_id)s, %(object_key)s, %(generation)s, %(memories)s, %(units)s,
        %(index_bytes)s, %(total_bytes)s, %(block_offsets)s::int8[], %(first)s, %(last)s, %(now)s)

-- name: point_to_segment
UPDATE memory m
SET tier = 3, tiered_at = %(now)s, cold_bytes = octet_length(m.content), content = NULL, metadata = '{}', entities = '[]',
    segment_id = %(segment_id)s, segment_row = r.segment_row
FROM unnest(%(memory_ids)s::uuid[], %(versions)s::text[], %(rows)s::int4[]) AS r (memory_id, version, segment_row)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id
  AND m.tier = 2 AND m.state <> 4 AND m.xmin::text = r.version
RETURNING m.memory_id

-- name: insert_dead
INSERT INTO cold_dead (tenant_id, namespace_id, segment_id, segment_row, memory_id)
SELECT %(tenant_id)s, %(namespace_id)s, %(segment_id)s, r.segment_row, r.memory_id
FROM unnest(%(rows)s::int4[], %(memory_ids)s::uuid[]) AS r (segment_row, memory_id)
ON CONFLICT DO NOTHING

-- name: segments
SELECT c.segment_id, c.object_key, c.generation, c.memories, c.units, c.index_bytes, c.total_bytes, c.first_occurred,
       c.last_occurred,
       ARRAY(SELECT d.segment_row FROM cold_dead d WHERE d.tenant_id = c.tenant_id AND d.namespace_id = c.namespace_id
               AND d.segment_id = c.segment_id ORDER BY d.segment_row)
FROM cold_segment c
WHERE c.tenant_id = %(tenant_id)s AND c.namespace_id = %(namespace_id)s
  AND (%(segment_ids)s::uuid[] IS NULL OR c.segment_id = ANY (%(segment_ids)s::uuid[]))
ORDER BY c.first_occurred, c.segment_id

-- name: object_keys
SELECT object_key FROM cold_segment WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: pointers
-- 32 memories a block: BLOCK_MEMORIES of the segment's format. The memories are read first and by name: with the join in
-- one statement, a plan of the time when few were cold reads all that are.
WITH m AS MATERIALIZED (
  SELECT memory_id, segment_id, segment_row FROM memory
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
    AND tier = 3 AND state <> 4)
SELECT m.memory_id, m.segment_id, m.segment_row, c.object_key, c.block_offsets[m.segment_row / 32 + 1],
       c.block_offsets[m.segment_row / 32 + 2] - c.block_offsets[m.segment_row / 32 + 1]
FROM m
JOIN cold_segment c ON c.tenant_id = %(tenant_id)s AND c.namespace_id = %(namespace_id)s AND c.segment_id = m.segment_id

-- What a forget leaves behind: pointers, and dead rows of memories that were cold once.
-- name: segments_of
WITH m AS MATERIALIZED (
  SELECT segment_id FROM memory
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s))
SELECT segment_id FROM m WHERE segment_id IS NOT NULL
UNION
SELECT segment_id FROM cold_dead
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
ORDER BY segment_id

-- name: lock_pointers
SELECT memory_id, segment_id, segment_row FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND segment_id = ANY (%(segment_ids)s)
ORDER BY memory_id FOR UPDATE

-- name: repoint
UPDATE memory m SET segment_id = %(segment_id)s, segment_row = r.segment_row
FROM unnest(%(memory_ids)s::uuid[], %(rows)s::int4[]) AS r (memory_id, segment_row)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id

-- name: drop_pointers
UPDATE memory SET segment_id = NULL, segment_row = NULL
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)

-- name: drop_segments
WITH gone AS (
  DELETE FROM cold_segment
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND segment_id = ANY (%(segment_ids)s)
  RETURNING object_key),
dead AS (
  DELETE FROM cold_dead
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND segment_id = ANY (%(segment_ids)s))
INSERT INTO cold_garbage (tenant_id, namespace_id, object_key, created_at)
SELECT %(tenant_id)s, %(namespace_id)s, object_key, %(now)s FROM gone
ON CONFLICT DO NOTHING

-- name: garbage
SELECT object_key FROM cold_garbage WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s ORDER BY object_key

-- name: drop_garbage
DELETE FROM cold_garbage
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND object_key = %(object_key)s

-- name: lock_cold
SELECT memory_id, segment_id, segment_row FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
  AND tier = 3 AND state <> 4
ORDER BY memory_id FOR UPDATE

-- name: restore_content
UPDATE memory m
SET tier = 1, tiered_at = %(now)s, content = r.content, metadata = r.metadata::jsonb, entities = r.entities::jsonb,
    segment_id = NULL, segment_row = NULL, cold_bytes = NULL
FROM json_to_recordset(%(memories)s::json) AS r (memory_id uuid, content text, metadata text, entities text)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id

-- name: unit_states
SELECT memory_id, CASE state WHEN 1 THEN 0 ELSE 1 END FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)

-- name: unswept
SELECT tenant_id, namespace_id FROM rearview_unswept_namespaces(%(age)s::interval, %(limit)s::int)

-- name: gone_segments
SELECT segment_id FROM rearview_gone_segments(%(segment_ids)s::uuid[])
