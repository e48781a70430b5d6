-- What recall asks of the database about cold memories: which may be found, and how those found stand.

-- name: segments
SELECT c.segment_id, c.object_key, c.generation, c.memories, c.units, c.index_bytes, c.total_bytes, c.first_occurred,
       c.last_occurred,
       ARRAY(SELECT d.segment_row FROM cold_dead d WHERE d.tenant_id = c.tenant_id AND d.namespace_id = c.namespace_id
               AND d.segment_id = c.segment_id ORDER BY d.segment_row)
FROM cold_segment c
WHERE c.tenant_id = %(tenant)s AND c.namespace_id = %(namespace)s
ORDER BY c.first_occurred, c.segment_id

-- name: allowed
SELECT m.memory_id FROM memory m
WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.tier = 3
  AND m.state = ANY (%(memory_states)s::int2[])
  AND (%(types)s::int2[] IS NULL OR m.type = ANY (%(types)s::int2[]))
  AND (%(start)s::timestamptz IS NULL OR coalesce(m.occurred_until, m.occurred_at) >= %(start)s::timestamptz)
  AND (%(end)s::timestamptz IS NULL OR m.occurred_at < %(end)s::timestamptz)
  AND (%(filter_entities)s::text[] IS NULL OR m.entity_keys @> %(filter_entities)s::text[])
  AND (%(session)s::text IS NULL OR m.session_id = %(session)s::text)
  AND (%(labels)s::jsonb IS NULL OR m.labels @> %(labels)s::jsonb)
  AND (%(origins)s::int2[] IS NULL OR m.origin = ANY (%(origins)s::int2[]))
  AND (%(as_of)s::timestamptz IS NULL OR (
    least(m.occurred_at, m.created_at, m.valid_from) <= %(as_of)s::timestamptz
    AND (m.valid_from IS NULL OR m.valid_from <= %(as_of)s::timestamptz)
    AND (m.valid_to IS NULL OR m.valid_to > %(as_of)s::timestamptz)
    AND (m.state = 1 OR m.valid_to IS NOT NULL OR coalesce(
      (SELECT least(n.occurred_at, n.created_at) FROM memory n
       WHERE n.tenant_id = m.tenant_id AND n.namespace_id = m.namespace_id AND n.memory_id = m.superseded_by),
      m.updated_at) > %(as_of)s::timestamptz)))

-- name: named
SELECT e.memory_id FROM rearview_memories_by_entity(
  %(tenant)s, %(namespace)s, %(entities)s::text[], %(memory_states)s::int2[], %(limit)s::int) e

-- name: standing
SELECT m.memory_id, m.type, m.intensity, m.pinned, m.priority,
       extract(epoch FROM greatest(least(m.occurred_at, m.created_at), s.last_accessed_at))::float8 AS used_at, coalesce(s.access_count, 0) AS access_count,
       CASE WHEN cardinality(%(entities)s::text[]) = 0 THEN '{}'::text[]
            ELSE ARRAY(SELECT e FROM unnest(%(entities)s::text[]) AS e WHERE e = ANY (m.entity_keys)) END AS entity_matches
FROM memory m
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.memory_id = ANY (%(memories)s::uuid[])
  AND m.state = ANY (%(memory_states)s::int2[]) AND (m.expires_at IS NULL OR m.expires_at > %(now)s::timestamptz)
  AND (m.pinned OR NOT rearview_lapses((SELECT rearview_expire_after(%(tenant)s, %(namespace)s)), m.type, greatest(m.updated_at, s.last_accessed_at),
                                      %(now)s::timestamptz))
