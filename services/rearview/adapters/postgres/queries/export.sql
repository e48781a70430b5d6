-- Reading a namespace for an export, part by part.

-- name: manifest
SELECT g.generation_id,
       (SELECT count(*) FROM event e
        WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND NOT e.tombstoned) AS events,
       (SELECT count(*) FROM memory m
        WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.state = ANY (%(states)s)
          AND (m.expires_at IS NULL OR m.expires_at > %(now)s)) AS memories
FROM model_generation g WHERE g.current

-- name: events
SELECT e.event_id, e.session_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.metadata,
       e.redactions, e.occurred_at, e.created_at, e.outcome, e.importance, e.capture ->> 'reason' AS reason, e.bands,
       e.indexed_at, s.started_at, s.last_event_at, s.ended_at
FROM event e
JOIN session s ON s.tenant_id = e.tenant_id AND s.namespace_id = e.namespace_id AND s.session_id = e.session_id
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s
  AND (e.session_id, e.sequence) > (%(session_id)s, %(sequence)s) AND NOT e.tombstoned
ORDER BY e.session_id, e.sequence LIMIT %(limit)s

-- name: memory_ids
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id > %(after)s
  AND state = ANY (%(states)s) AND (expires_at IS NULL OR expires_at > %(now)s)
ORDER BY memory_id LIMIT %(limit)s

-- name: belongings
SELECT m.memory_id, m.fact_told_at, m.fact_source_id, m.derived, m.generation,
       coalesce((SELECT json_agg(json_build_array(l.session_id, l.event_id, l.sequence, l.repeats) ORDER BY l.sequence)
                 FROM memory_event l
                 JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
                 WHERE l.tenant_id = m.tenant_id AND l.namespace_id = m.namespace_id AND l.memory_id = m.memory_id
                   AND NOT e.tombstoned), '[]') AS links,
       ARRAY(SELECT s.source_memory_id FROM memory_source s
             WHERE s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
             ORDER BY s.source_memory_id) AS sources
FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s)
