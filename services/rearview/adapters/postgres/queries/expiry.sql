-- What has lapsed: memories whose end has come, cold memories of a type that nobody used for long enough, old events.

-- name: due
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND state <> 4 AND expires_at <= %(now)s
  AND rearview_memory_hold(tenant_id, namespace_id, memory_id) IS NULL
ORDER BY expires_at, memory_id LIMIT %(limit)s

-- name: lapsed
SELECT m.memory_id FROM memory m
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.state <> 4 AND m.tier = 3 AND NOT m.pinned
  AND m.type = ANY (%(types)s::int2[])
  AND rearview_lapses((SELECT rearview_expire_after(%(tenant_id)s, %(namespace_id)s)), m.type, greatest(m.updated_at, s.last_accessed_at), %(now)s)
  AND rearview_memory_hold(m.tenant_id, m.namespace_id, m.memory_id) IS NULL
ORDER BY m.memory_id LIMIT %(limit)s

-- Of these memories, locked, those of which one or the other is still true.
-- name: still_expired
SELECT m.memory_id FROM memory m
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s) AND m.state <> 4
  AND (m.expires_at <= %(now)s OR m.tier = 3 AND NOT m.pinned
       AND rearview_lapses((SELECT rearview_expire_after(%(tenant_id)s, %(namespace_id)s)), m.type, greatest(m.updated_at, s.last_accessed_at), %(now)s))

-- Turns that nobody has read yet stay until they are: what they say is nowhere else.
-- name: old_events
SELECT count(*) FROM (
  SELECT FROM event
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
    AND uuid_hash(namespace_id) = uuid_hash(%(namespace_id)s) AND created_at <= %(cutoff)s
    AND NOT tombstoned AND outcome <> 1 AND rearview_event_hold(tenant_id, namespace_id, event_id) IS NULL
  LIMIT %(limit)s) e

-- The oldest first. What is forgotten is left to its purge.
-- name: lapse_events
DELETE FROM event e USING (
  SELECT event_id FROM event
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
    AND uuid_hash(namespace_id) = uuid_hash(%(namespace_id)s) AND created_at <= %(cutoff)s
    AND NOT tombstoned AND outcome <> 1 AND rearview_event_hold(tenant_id, namespace_id, event_id) IS NULL
  ORDER BY created_at, event_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED) old
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.event_id = old.event_id
RETURNING e.event_id, e.session_id, e.speaker

-- A session of which nothing is left.
-- name: end_sessions
DELETE FROM session s
WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.session_id = ANY (%(sessions)s)
  AND s.last_event_at <= %(cutoff)s
  AND NOT EXISTS (SELECT FROM event e WHERE e.tenant_id = s.tenant_id AND e.namespace_id = s.namespace_id
                  AND e.session_id = s.session_id)
  AND NOT EXISTS (SELECT FROM memory m WHERE m.tenant_id = s.tenant_id AND m.namespace_id = s.namespace_id
                  AND m.session_id = s.session_id AND m.session_id <> '')

-- name: namespace_name
SELECT name FROM namespace WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND deleted_at IS NULL

-- name: current_generation
SELECT ordinal FROM model_generation WHERE current

-- What memories of a tier that may fall depend on; those likely to be worth least come first, as in `excess`.
-- name: valued
SELECT m.memory_id, greatest(m.updated_at, s.last_accessed_at) AS used_at, coalesce(s.access_count, 0) AS access_count,
       m.intensity, m.pinned, m.priority
FROM memory m
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.tier = %(tier)s AND m.state <> 4
  AND NOT m.pinned AND m.priority < %(below_priority)s::real AND (%(types)s::int2[] IS NULL OR m.type = ANY (%(types)s::int2[]))
  AND m.updated_at <= %(cutoff)s AND coalesce(s.last_accessed_at, '-infinity') <= %(cutoff)s
  AND coalesce(m.tiered_at, '-infinity') <= %(cutoff)s
  AND (%(memory_ids)s::uuid[] IS NULL OR m.memory_id = ANY (%(memory_ids)s::uuid[]))
  AND rearview_memory_hold(m.tenant_id, m.namespace_id, m.memory_id) IS NULL
ORDER BY greatest(m.updated_at, s.last_accessed_at) + m.priority * interval '30 days', m.memory_id LIMIT %(limit)s
