-- Memories stored and changed by request.

-- Two that remember the same text come one after the other, so that the second finds the first.
-- name: lock_text
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 1))

-- What goes with a session, or with another memory, cannot stand for what is to be remembered by itself; nor can what
-- lacks a label by which it is to be found.
-- name: find_same
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND state = 1
  AND content_hash = %(content_hash)s AND substring(content_hash FROM 1 FOR 6) = substring(%(content_hash)s::bytea FROM 1 FOR 6)
  AND labels @> %(labels)s::jsonb AND trust = 3 AND NOT derived AND session_id IN ('', %(session_id)s) AND (expires_at IS NULL OR expires_at > %(now)s)
  AND (%(given_day)s::date IS NULL OR (occurred_at AT TIME ZONE 'UTC')::date = %(given_day)s::date)
ORDER BY created_at, memory_id LIMIT 1
