-- Appending to sessions. Statements of one append are sent together; the session's row is locked first, so appends
-- to one session, its indexing and its forgetting come one after the other.

-- name: open_session
INSERT INTO session AS s (tenant_id, namespace_id, session_id, started_at, last_event_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(session_id)s, %(first_at)s, %(last_at)s)
ON CONFLICT (tenant_id, namespace_id, session_id) DO UPDATE SET last_sequence = s.last_sequence
RETURNING s.last_sequence, s.index_queued

-- name: stored_events
SELECT event_id, session_id, sequence, role, speaker, content, tool_call, image_caption, redactions, occurred_at,
       created_at, tombstoned
FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(event_ids)s)

-- name: forgotten_ids
SELECT resource_id FROM tombstone
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND resource_id = ANY (%(event_ids)s)

-- name: insert_events
INSERT INTO event (tenant_id, namespace_id, session_id, created_at, event_id, sequence, role, speaker, content, tool_call,
                   image_caption, metadata, redactions, occurred_at, keywords)
SELECT %(tenant_id)s, %(namespace_id)s, %(session_id)s, %(now)s, r.event_id, r.sequence, r.role, r.speaker, r.content,
       r.tool_call, r.image_caption, r.metadata, r.redactions, r.occurred_at, r.keywords
FROM json_to_recordset(%(events)s::json) AS r (event_id uuid, sequence bigint, role smallint, speaker text, content text,
  tool_call jsonb, image_caption text, metadata jsonb, redactions text[], occurred_at timestamptz, keywords int4[])

-- A forgotten session starts afresh; an ended one opens again.
-- name: grow_session
UPDATE session
SET last_sequence = %(last_sequence)s,
    started_at = CASE WHEN forgotten_at IS NULL THEN least(started_at, %(first_at)s) ELSE %(first_at)s END,
    last_event_at = CASE WHEN forgotten_at IS NULL THEN greatest(last_event_at, %(last_at)s) ELSE %(last_at)s END,
    ended_at = NULL, forgotten_at = NULL, index_queued = true
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s

-- name: lock_session
SELECT started_at, last_event_at, ended_at, last_sequence, indexed_sequence, index_queued
FROM session
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s
  AND forgotten_at IS NULL
FOR UPDATE

-- name: end_session
UPDATE session SET ended_at = %(now)s, index_queued = true
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s
