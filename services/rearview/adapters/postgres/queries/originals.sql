-- Sealed originals.

-- name: keep_of_events
INSERT INTO event_original (tenant_id, namespace_id, event_id, key_id, sealed)
SELECT %(tenant_id)s, %(namespace_id)s, o.event_id, o.key_id, o.sealed
FROM unnest(%(event_ids)s::uuid[], %(key_ids)s::text[], %(sealed)s::bytea[]) AS o (event_id, key_id, sealed)
ON CONFLICT (tenant_id, namespace_id, event_id) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed

-- name: keep_of_memory
INSERT INTO memory_original (tenant_id, namespace_id, memory_id, key_id, sealed)
VALUES (%(tenant_id)s, %(namespace_id)s, %(memory_id)s, %(key_id)s, %(sealed)s)
ON CONFLICT (tenant_id, namespace_id, memory_id) DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed

-- name: drop_of_memory
DELETE FROM memory_original
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = %(memory_id)s

-- name: of_event
SELECT e.content, o.key_id, o.sealed
FROM event e LEFT JOIN event_original o
  ON o.tenant_id = e.tenant_id AND o.namespace_id = e.namespace_id AND o.event_id = e.event_id
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.session_id = %(session_id)s
  AND e.event_id = %(event_id)s AND NOT e.tombstoned

-- name: of_memory
SELECT coalesce(m.content, ''), o.key_id, o.sealed
FROM memory m LEFT JOIN memory_original o
  ON o.tenant_id = m.tenant_id AND o.namespace_id = m.namespace_id AND o.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = %(memory_id)s AND m.state <> 4

-- name: of_its_events
SELECT o.event_id, o.key_id, o.sealed
FROM memory_event l
JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
  AND NOT e.tombstoned
JOIN event_original o ON o.tenant_id = l.tenant_id AND o.namespace_id = l.namespace_id AND o.event_id = l.event_id
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = %(memory_id)s
ORDER BY l.sequence
LIMIT 1000
