-- Appending to sessions, and ending them.

-- name: append
SELECT outcome, event_id, sequence
FROM rearview_append(
  %(tenant_id)s::uuid, %(namespace_id)s::uuid, %(session_id)s::text, %(event_ids)s::uuid[], %(events)s::json,
  %(first_at)s::timestamptz, %(last_at)s::timestamptz, %(now)s::timestamptz, %(request_id)s::uuid, %(method)s::text,
  %(fingerprint)s::bytea, %(record_id)s::uuid, %(principal)s::text, %(session_name)s::text, %(request_text)s::text,
  %(trace_id)s::text, %(most_keywords)s::int)

-- Placeholders are numbered behind this lock, and the append that follows goes on behind it.
-- name: open_session
INSERT INTO session AS s (tenant_id, namespace_id, session_id, started_at, last_event_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(session_id)s, %(first_at)s, %(last_at)s)
ON CONFLICT (tenant_id, namespace_id, session_id) DO UPDATE SET last_sequence = s.last_sequence

-- name: stored_events
SELECT event_id, sequence, role, speaker, content, tool_call, image_caption, redactions, occurred_at, created_at
FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(event_ids)s) AND NOT tombstoned

-- name: lock_session
SELECT started_at, last_event_at, ended_at, last_sequence, indexed_sequence, index_queued
FROM session
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s
  AND forgotten_at IS NULL
FOR UPDATE

-- name: end_session
UPDATE session SET ended_at = %(now)s, index_queued = true
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s
